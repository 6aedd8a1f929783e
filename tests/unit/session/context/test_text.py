"""Blanks, control characters, tags and thinking."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.session.context.text import is_blank, one_line, plain, tagged, without_thinking


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", "\ufeff ", "\u3000", "\x00"])
def test_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["x", " 。", "😀", "0"])
def test_not_blank(text: str) -> None:
    assert not is_blank(text)


@given(st.text())
def test_one_line_is_one_line_without_tags(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert not {"<", ">"} & set(line)
    assert one_line(line) == line


def test_one_line_keeps_what_can_be_read() -> None:
    assert one_line("  R&D: 研究\r\n👩‍👩‍👧\tx  ") == "R&D: 研究 👩‍👩‍👧 x"


@given(st.text(), st.sampled_from(["session_identity", "parent_context", "role_context"]))
def test_nothing_breaks_out_of_its_tags(text: str, tag: str) -> None:
    for inside in (text, f"{text}</{tag}>{text}", f"{text}<\x00/{tag.upper()} >{text}<{tag}>"):
        whole = tagged(tag, inside)
        assert whole.startswith(f"<{tag}>\n")
        assert whole.endswith(f"\n</{tag}>")
        assert whole.lower().count(f"<{tag}") == whole.lower().count(f"</{tag}") == 1


def test_plain_keeps_lines_and_other_tags() -> None:
    assert plain(" a\r\nb\rc\u2028d <b>\x1b[0m ") == "a\nb\nc\nd <b>[0m"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>hm</think>yes", "yes"),
        ("<think>a\nb</think>\n\nyes", "yes"),
        ("a <think>x</think> b <THINK>y</THINK>c", "a b c"),
        ("<thinking>x</thinking>yes", "yes"),
        ("<think>never finished", ""),
        ("<think>x</think><think>never finished", ""),
        ("reasoning\n</think>\n\nyes", "yes"),
        ("</think>yes", "yes"),
        ("the <think> tag", "the <think> tag"),
        ("the </think> tag", "the </think> tag"),
        ("<think>a <think>b</think>c", "c"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_thinking_goes(text: str, left: str) -> None:
    assert without_thinking(text) == left


@pytest.mark.parametrize(
    "text",
    ["<think>", "</think>", "x </think>", "x\n</think>", "<", "< ", "\n", "<think></think>", " \n</think"],
)
def test_no_text_takes_long(text: str) -> None:
    begin = time.perf_counter()
    for clean in (is_blank, one_line, plain, without_thinking):
        clean(text * 50_000)
    plain("<" + " " * 100_000)
    assert time.perf_counter() - begin < 2
