"""What a fork profile must fulfil."""

from string import Template

from stello_graph.errors import InvalidInput
from stello_graph.model.checks import check_label, check_names, check_text
from stello_graph.model.profile import ForkProfile

__all__ = ["check_name", "check_profile", "template_of"]


def check_profile(profile: ForkProfile, limit: int) -> ForkProfile:
    """Returns `profile` with each skill once; its texts have at most `limit` bytes.

    Raises:
        InvalidInput: no name, or a template that is malformed.
    """
    check_name(profile.name)
    skills = None if profile.skills is None else check_names(profile.skills, "skills")
    for text, what in ((profile.system_prompt, "systemPrompt"), (profile.prompt, "prompt")):
        if text is not None:
            template_of(check_text(text, what, limit), what)
    return profile.model_copy(update={"skills": skills})


def check_name(name: str) -> str:
    """Returns the name of a profile: as a label, and not empty."""
    if not check_label(name).strip():
        raise InvalidInput("a fork profile has a name")
    return name


def template_of(text: str, what: str) -> Template:
    """A text of a profile as a template. Raises InvalidInput where it is malformed."""
    template = Template(text)
    if not template.is_valid():
        raise InvalidInput(
            f"the profile's {what} is not a template: a variable is ${{name}}, and $$ is a dollar"
        )
    return template
