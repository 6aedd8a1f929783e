import json
from hypothesis import given, settings, strategies as st
from stello_graph.llm.anthropic_form import to_params, without_thinking
from stello_graph.model.context import *
from stello_graph.model.message import ToolCall
from stello_graph.session.context.render import Invocation, render
from tests.model_server import check
from tests.unit.llm.asking import SEARCH
from tests.unit.llm.test_anthropic_form import texts, parts, ids, json_values
msg = st.builds(ContextMessage, role=st.sampled_from(["user","assistant","tool"]), content=texts, origin=st.just(ContextOrigin.TRANSCRIPT), parts=parts,
  tool_calls=st.lists(st.builds(ToolCall,id=ids|st.just(""),name=st.sampled_from(["search","gone","a b"]),arguments=json_values),max_size=3).map(tuple),
  tool_call_id=st.none()|ids, tool_name=st.none()|st.just("search"), is_error=st.booleans(), model=st.none()|st.just("claude-test"))
@settings(max_examples=400, deadline=None)
@given(st.lists(msg,max_size=8), texts, texts, st.booleans())
def test_x(ms, a, b, tools):
    inv=Invocation(system_prompt=a,label=b,tools=(SEARCH,) if tools else ())
    m=render(inv, tuple(ms))
    r=ModelRequest(model="claude-test",messages=m,tools=inv.tools,max_output_tokens=5)
    p=without_thinking(to_params(r)); check(p); json.dumps(p).encode()
