import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stello_graph.interchange.deepjson import loads_deep

DECODER = json.JSONDecoder()
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@given(
    st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
    st.sampled_from([None, 1, "\t"]),
)
def test_it_reads_what_others_write(value: Any, indent: int | str | None) -> None:
    assert loads_deep(json.dumps(value, indent=indent), DECODER) == value


def test_depth_does_not_matter() -> None:
    value = loads_deep('[{"a": ' * 100_000 + "7" + "}]" * 100_000, DECODER)

    depth = 0
    while value != 7:
        value, depth = value[0]["a"], depth + 1
    assert depth == 100_000


@given(st.text(alphabet='[]{}",:1 a', max_size=12))
def test_it_refuses_what_the_decoder_refuses(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        expected = ValueError
    try:
        found = loads_deep(text, DECODER)
    except ValueError:
        found = ValueError
    assert found == expected
