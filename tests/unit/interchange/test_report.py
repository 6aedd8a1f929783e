import pytest

from stello_graph.interchange.intake import OTHERS
from stello_graph.interchange.plan import ImportedConversation, NotLookedAt, Repaired, Skipped
from stello_graph.interchange.report import BesideOutcome, ImportReport, SessionOutcome
from tests.unit.interchange.exports import read_fixture


def report_of(name: str) -> ImportReport:
    report = ImportReport(max_details=3)
    for item in read_fixture(name):
        report.add(item)
        for session in item.sessions if isinstance(item, ImportedConversation) else ():
            report.add_session(
                SessionOutcome.IMPORTED, messages=len(session.messages), is_fork=session.source_id is not None
            )
    return report


def test_a_report_as_json() -> None:
    found = report_of("damaged").to_dict()

    assert found["skipped"].pop("reasons")["not a JSON object"] == 2
    assert found["repaired"].pop("details")[0]["where"] == 'conversation 4 "Cycle", message x'
    assert found == {
        "space": "",
        "conversations": 8,
        "sessions": {"imported": 9, "extended": 0, "present": 0},
        "beside": {"imported": 0, "present": 0, "different": 0, "left": 0},
        "forks": 1,
        "messages": 22,
        "hidden": 7,
        "skipped": {
            "count": 9,
            "details": [
                {"where": "entry 2", "why": "not a JSON object"},
                {"where": 'conversation 3 "Damaged", message bad', "why": "it has no author"},
                {"where": 'conversation 3 "Damaged", message bad2', "why": "its message is no object"},
            ],
        },
        "repaired": {
            "count": 5,
            "reasons": {
                "its parents form a circle: cut before its earliest message": 1,
                "its current_node leads to no message: the latest branch is taken for the current one": 2,
                "its parent is not in the file: kept as a branch of its own": 1,
                "characters that no store takes were replaced by U+FFFD": 1,
            },
        },
        "notLookedAt": {"count": 0, "reasons": {}, "details": []},
        "importedAnythingValid": True,
    }


def test_a_report_for_people() -> None:
    lines = list(report_of("damaged").lines())

    assert lines[:4] == [
        "Conversations read: 8",
        "Sessions: 9 imported (1 of them forks), 0 extended",
        "Sessions there already: 0",
        "Messages imported: 22",
    ]
    assert "Skipped, 2: not a JSON object" in lines
    at = lines.index("Skipped, 2: not a JSON object")
    assert lines[at + 1 : at + 3] == ["  entry 2", "  and 1 more"]
    assert "Repaired, 1: its parent is not in the file: kept as a branch of its own" in lines


def test_a_second_import_says_that_it_added_nothing() -> None:
    report = ImportReport()
    for item in read_fixture("single"):
        report.add(item)
        report.add_session(SessionOutcome.PRESENT, messages=0, is_fork=False)

    assert report.imported_anything_valid
    assert "Nothing was added: all of it is there already." in list(report.lines())


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ({BesideOutcome.PRESENT: 2}, "Nothing was added: all of it is there already."),
        (
            {BesideOutcome.PRESENT: 2, BesideOutcome.DIFFERENT: 1, BesideOutcome.LEFT: 1},
            "Nothing was added: what differs from what is there was left.",
        ),
        ({BesideOutcome.LEFT: 1}, "Nothing was added."),
    ],
)
def test_nothing_is_added_and_not_all_is_there(outcomes: dict[BesideOutcome, int], told: str) -> None:
    """What differs from what is there, or may not be stored, is not there already."""
    report = ImportReport()
    for outcome, count in outcomes.items():
        for _ in range(count):
            report.add_beside(outcome)
    assert [line for line in report.lines() if "Nothing" in line] == [told]

    report.add_beside(BesideOutcome.IMPORTED)
    assert "Nothing" not in "".join(report.lines())


def test_files_that_are_not_looked_at() -> None:
    """Some names, and how many; they are not skipped."""
    report = ImportReport()
    for number in range(40):
        report.add(NotLookedAt(where=f"{number}.png", why=OTHERS))

    assert list(report.lines())[1:] == [
        f"Not looked at, 40: {OTHERS}",
        *(f"  {number}.png" for number in range(3)),
        "  and 37 more",
    ]
    assert (report.to_dict()["notLookedAt"]["count"], report.to_dict()["skipped"]["count"]) == (40, 0)


def test_nothing_valid() -> None:
    report = ImportReport()
    report.add(Skipped(where="entry 1", why="not a JSON object"))

    assert not report.imported_anything_valid
    assert next(report.lines()) == "Nothing that can be imported was found."


def test_its_size_is_bounded() -> None:
    report = ImportReport(max_details=2)
    for number in range(1_000):
        report.add(Skipped(where=f"entry {number}", why="not legal JSON"))
        report.repaired.add(Repaired(where=f"entry {number}", why="repaired"))

    found = report.to_dict()
    assert (found["skipped"]["count"], len(found["skipped"]["details"])) == (1_000, 2)
    assert len(list(report.lines())) == 9
