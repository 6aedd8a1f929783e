"""Fork profiles: kept, and laid over what a fork takes of its source."""

from collections.abc import Mapping
from typing import Any

from stello_graph.errors import InvalidInput
from stello_graph.model.checks import check_text
from stello_graph.model.profile import MAX_PROFILES, ForkProfile
from stello_graph.model.profile_checks import check_name, check_profile, template_of
from stello_graph.model.values import PromptMode
from stello_graph.ports import SpaceStore
from stello_graph.session.context.text import is_blank

__all__ = [
    "Variables",
    "check_vars",
    "delete_profile",
    "merged_prompt",
    "put_profile",
    "rendered",
]

Variables = Mapping[str, str]


async def put_profile(store: SpaceStore, profile: ForkProfile, limit: int) -> ForkProfile:
    """Writes a profile; one of the same name is replaced whole.

    Raises:
        InvalidInput: no name, or a template that is malformed.
        LimitExceeded: there are 200 others.
    """
    return await store.put_profile(check_profile(profile, limit), limit=MAX_PROFILES)


async def delete_profile(store: SpaceStore, name: str) -> bool:
    """Whether there was such a profile. Forks made by it stay as they are."""
    return await store.delete_profile(check_name(name))


def check_vars(given: Any, limit: int) -> Variables:
    """The variables of templates as text: an object of strings, numbers and booleans."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InvalidInput("vars must be an object")
    return {name: check_text(_text(name, value), f"vars.{name}", limit) for name, value in given.items()}


def rendered(text: str | None, vars: Variables, what: str) -> str | None:
    """A template of a profile with its variables in place; None where that gives nothing.

    Raises:
        InvalidInput: a variable is missing, or the template is malformed; the message names it.
    """
    if text is None:
        return None
    template = template_of(text, what)
    missing = [name for name in template.get_identifiers() if name not in vars]
    if missing:
        raise InvalidInput(f'the profile\'s {what} needs the variable "{missing[0]}" in vars')
    filled = template.substitute(vars)
    return None if is_blank(filled) else filled


def merged_prompt(
    own: str | None, of_profile: str | None, mode: PromptMode, inherited: str | None
) -> str | None:
    """The system prompt of a fork: the profile's and its own by `mode`; without both the source's."""
    if of_profile is None:
        return inherited if own is None else own
    if own is None or is_blank(own):
        return of_profile
    match mode:
        case PromptMode.PREPEND:
            return f"{of_profile}\n\n{own}"
        case PromptMode.APPEND:
            return f"{own}\n\n{of_profile}"
        case PromptMode.PRESET:
            return of_profile


def _text(name: str, value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
    raise InvalidInput(f"vars.{name} must be a string, a number or a boolean")
