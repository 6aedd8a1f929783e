"""What the full-text indexes hold, and how they are asked: the only place that makes their terms.

Each indexed text begins with a tag that no text of a person can hold: it names scope and Space, and each
query requires it, so that the hits of one tenant never crowd out another's.
"""

import hashlib
from functools import lru_cache

from stello_graph.model.message import MessageRole
from stello_graph.model.search import Clause, SearchQuery, SearchScope
from stello_graph.model.terms import terms
from stello_graph.model.thinking import without_thinking

__all__ = ["expression", "label_terms", "memory_terms", "message_terms"]


def label_terms(space_id: str, label: str) -> str:
    """What is indexed of a label."""
    return _tagged(space_id, SearchScope.LABEL, label)


def memory_terms(space_id: str, memory: str) -> str:
    """What is indexed of a digest."""
    return _tagged(space_id, SearchScope.MEMORY, memory)


def message_terms(space_id: str, role: str, content: str) -> str:
    """What is indexed of a message: what the user and the model say, without thinking and tools' results."""
    match role:
        case MessageRole.USER:
            said = content
        case MessageRole.ASSISTANT:
            said = without_thinking(content)
        case _:
            return ""
    return _tagged(space_id, SearchScope.MESSAGE, said)


def expression(space_id: str, scope: SearchScope, query: SearchQuery) -> str:
    """`query` in the syntax that both indexes understand.

    Whatever comes from a person is between quotes, but for beginnings of words, which cannot be: they are
    made of letters, digits and marks alone, in lower case, so they are no operators either.
    """
    return " AND ".join([f'"{_tag(space_id, scope)}"', *map(_asked, query.clauses)])


def _asked(clause: Clause) -> str:
    return f"{clause.terms[0]}*" if clause.prefix else f'"{" ".join(clause.terms)}"'


def _tagged(space_id: str, scope: SearchScope, text: str) -> str:
    """The terms behind the tag; empty where there are none."""
    found = terms(text)
    return f"{_tag(space_id, scope)} {found}" if found else ""


@lru_cache(maxsize=4096)
def _tag(space_id: str, scope: SearchScope) -> str:
    hashed = hashlib.blake2b(space_id.encode(), digest_size=8).hexdigest()
    return f"§{scope.lower()}{hashed}"
