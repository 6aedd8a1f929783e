"""Estimates."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.model.context import ContextMessage, ContextOrigin
from stello_graph.model.values import Usage
from stello_graph.session.context.tokens import estimate, measure, tokens_of

from .spec import IMAGE, call, tool

characters = st.text(max_size=200)


def said(content: str, **fields: object) -> ContextMessage:
    return ContextMessage.model_validate(
        {"role": "assistant", "content": content, "origin": ContextOrigin.TRANSCRIPT, **fields}
    )


@pytest.mark.covers("W31", "TC19")
@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("a" * 4000, 1000, 1000),
        ("naïve café " * 100, 275, 375),
        ("привет мир " * 100, 400, 700),
        ("汉字处理" * 100, 400, 400),
        ("ひらがなカタカナ" * 100, 800, 800),
        ("안녕하세요" * 100, 500, 500),
        ("，。！" * 100, 300, 300),
        ("😀" * 100, 100, 300),
        ("𠮷" * 100, 100, 300),
        ("สวัสดี" * 100, 300, 600),
        ("\ud800" * 10, 1, 30),
    ],
)
def test_the_script_decides(text: str, least: int, most: int) -> None:
    assert least <= tokens_of(text) <= most


@given(characters, characters)
def test_more_text_is_never_fewer_tokens(one: str, two: str) -> None:
    assert max(tokens_of(one), tokens_of(two)) <= tokens_of(one + two) <= tokens_of(one) + tokens_of(two)
    assert tokens_of(one) + tokens_of(two) <= tokens_of(one + two) + 1


@given(st.lists(characters, max_size=5), st.lists(characters, max_size=5))
def test_messages_add_up(one: list[str], two: list[str]) -> None:
    first, second = [said(text) for text in one], [said(text) for text in two]
    assert estimate([*first, *second]) == estimate(first) + estimate(second)
    assert estimate(first) >= len(first)


@pytest.mark.covers("W31")
def test_calls_schemas_and_parts_count() -> None:
    plain = estimate([said("hi")])
    assert estimate([said("hi", tool_calls=(call("1", arguments={"q": "字" * 100}),))]) > plain + 100
    assert (
        estimate([said("hi")], [tool("search")]) > plain + len(json.dumps(tool("search").input_schema)) // 4
    )
    assert estimate([said("hi", parts=[IMAGE])]) > plain + 1000


def test_parts_say_no_text_twice() -> None:
    text = {"type": "text", "text": "字" * 100}
    assert estimate([said("字" * 100, parts=[text])]) == estimate([said("字" * 100)])
    assert estimate([said("", parts=[text])]) == estimate([said("字" * 100)])
    assert estimate([said("", parts=[{"type": "thinking", "thinking": "字" * 50}])]) == 4 + 50


def test_documents_count_by_their_size() -> None:
    def document(**source: str) -> ContextMessage:
        return said("", parts=[{"type": "document", "source": source}])

    assert estimate([document(type="base64", data="x" * 640_000)]) == 4 + 10_000
    assert estimate([document(type="text", data="字" * 3000)]) == 4 + 3000
    assert estimate([document(type="url", url="https://x")]) == 4 + 1600
    assert estimate([said("", parts=[{"type": "search_result", "title": "x" * 400}])]) > 100


def test_a_count_is_believed_where_it_can_be() -> None:
    def request(usage: Usage) -> list[ContextMessage]:
        return [said("字" * 1000, usage=usage), said("字" * 100)]

    assert measure(request(Usage(input_tokens=640))) == 640 + 104
    assert measure(request(Usage(input_tokens=5000, output_tokens=1))) == 5001 + 104
    assert measure(request(Usage(input_tokens=12))) == 1004 + 104
    assert measure([said("字" * 1000)], [tool("search")]) == estimate([said("字" * 1000)], [tool("search")])


def test_a_megabyte_is_estimated_in_no_time() -> None:
    text = "汉字 and words. " * 80_000
    begin = time.perf_counter()
    tokens_of(text)
    assert time.perf_counter() - begin < 0.1
