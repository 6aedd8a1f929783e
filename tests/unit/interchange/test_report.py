from stello_graph.interchange.plan import ImportedConversation, Repaired, Skipped
from stello_graph.interchange.report import ImportReport, SessionOutcome
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
        "conversations": 8,
        "sessions": {"imported": 9, "extended": 0, "present": 0},
        "beside": {"imported": 0, "present": 0},
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
