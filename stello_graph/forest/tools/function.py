"""A typed function as a tool: its JSON schema, and its arguments checked against it."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from stello_graph.errors import InvalidInput
from stello_graph.session.threads import in_thread

__all__ = ["ToolFunction"]


class ToolFunction:
    """Calls a function with what a model gave.

    Attributes:
        schema: of the arguments, as JSON schema.
        description: the function's docstring.
    """

    def __init__(self, function: Callable[..., Any], context_type: type) -> None:
        """
        Args:
            function: asynchronous, or a plain one, which then runs in a thread. Every parameter is named
                and has a type; one of `context_type` gets the context.

        Raises:
            InvalidInput: the function cannot be a tool; says why.
        """
        name = getattr(function, "__name__", repr(function))
        hints = _hints(function, name)
        fields: dict[str, Any] = {}
        self._context: str | None = None
        self._names: dict[str, str] = {}
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise InvalidInput(f"the tool {name} takes only named parameters: {parameter} is none")
            if parameter.name not in hints:
                raise InvalidInput(f"the tool {name} needs a type for its parameter {parameter.name}")
            hint = hints[parameter.name]
            if _plain(hint) is context_type:
                self._context = parameter.name
                continue
            default = ... if parameter.default is parameter.empty else parameter.default
            # Under a name of our own: a field called `json` or `copy` would hide what pydantic needs.
            self._names[f"argument_{parameter.name}"] = parameter.name
            fields[f"argument_{parameter.name}"] = (Annotated[hint, Field(alias=parameter.name)], default)
        self._function = function
        self._asynchronous = inspect.iscoroutinefunction(function)
        self._arguments = _model(name, fields)
        self.description = inspect.getdoc(function) or ""
        self.schema = _without_titles(self._arguments.model_json_schema())

    async def __call__(self, arguments: Any, context: object) -> object:
        """Runs the function.

        Raises:
            InvalidInput: the arguments are not of its form; says which and why.
        """
        try:
            given = self._arguments.model_validate(arguments)
        except ValidationError as error:
            wrong = (f"{'.'.join(map(str, one['loc'])) or 'all'}: {one['msg']}" for one in error.errors())
            raise InvalidInput("Invalid arguments. " + "; ".join(wrong)) from None
        named = {name: getattr(given, field) for field, name in self._names.items()}
        if self._context is not None:
            named[self._context] = context
        if self._asynchronous:
            return await self._function(**named)
        return await in_thread(self._function, **named)


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise InvalidInput(f"the types of the tool {name} cannot be read: {error}") from error


def _plain(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    try:
        return create_model(f"{name}_arguments", __config__=ConfigDict(extra="forbid"), **fields)
    except Exception as error:
        raise InvalidInput(f"the parameters of the tool {name} have no JSON schema: {error}") from error


def _without_titles(schema: Any) -> Any:
    """A schema without the titles that repeat the names, for a model pays for each word."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if not (name == "title" and isinstance(value, str))}
    return {name: _without_titles(value) for name, value in kept.items()}
