"""Fork profiles: kept, and laid over what a fork takes of its source."""

from collections.abc import Mapping
from string import Template
from typing import Any

from stello_graph.errors import InvalidInput
from stello_graph.forest.checks import check_label, check_names, check_text
from stello_graph.model.profile import MAX_PROFILES, ForkProfile
from stello_graph.model.values import PromptMode
from stello_graph.ports import SpaceStore
from stello_graph.session.context.text import is_blank

__all__ = [
    "Variables",
    "check_name",
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
    check_name(profile.name)
    skills = None if profile.skills is None else check_names(profile.skills, "skills")
    for text, what in ((profile.system_prompt, "systemPrompt"), (profile.prompt, "prompt")):
        if text is not None:
            _template(check_text(text, what, limit), what)
    return await store.put_profile(profile.model_copy(update={"skills": skills}), limit=MAX_PROFILES)


async def delete_profile(store: SpaceStore, name: str) -> bool:
    """Whether there was such a profile. Forks made by it stay as they are."""
    return await store.delete_profile(check_name(name))


def check_name(name: str) -> str:
    """Returns the name of a profile: as a label, and not empty."""
    if not check_label(name).strip():
        raise InvalidInput("a fork profile has a name")
    return name


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
    template = _template(text, what)
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


def _template(text: str, what: str) -> Template:
    template = Template(text)
    if not template.is_valid():
        raise InvalidInput(
            f"the profile's {what} is not a template: a variable is ${{name}}, and $$ is a dollar"
        )
    return template


def _text(name: str, value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
    raise InvalidInput(f"vars.{name} must be a string, a number or a boolean")
