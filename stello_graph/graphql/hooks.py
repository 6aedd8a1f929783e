"""Strawberry's extensions, whose hooks are looked at once for each class instead of for each operation."""

import inspect
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache, partial
from typing import Any

from strawberry.extensions import SchemaExtension
from strawberry.extensions.context import (
    ExecutingContextManager,
    ExtensionContextManagerBase,
    OperationContextManager,
    ParsingContextManager,
    StreamResultContextManager,
    ValidationContextManager,
    WrappedHook,
)
from strawberry.extensions.runner import SchemaExtensionsRunner
from strawberry.types import ExecutionContext, StreamExecutionResult

__all__ = ["HooksRunner"]


class _Known(ExtensionContextManagerBase):
    def get_hook(self, extension: SchemaExtension) -> WrappedHook | None:
        """See Strawberry."""
        hook = getattr(type(extension), self.HOOK_NAME)
        if hook is self.default_hook:
            return None
        if not inspect.isfunction(hook):
            return super().get_hook(extension)
        around, is_async = _around(hook)
        if around is None:
            return super().get_hook(extension)
        return WrappedHook(extension=extension, hook=partial(around, extension), is_async=is_async)


class _Operation(_Known, OperationContextManager):
    pass


class _Parsing(_Known, ParsingContextManager):
    pass


class _Validation(_Known, ValidationContextManager):
    pass


class _Executing(_Known, ExecutingContextManager):
    pass


class _StreamResult(_Known, StreamResultContextManager):
    pass


class HooksRunner(SchemaExtensionsRunner):
    """See Strawberry."""

    def operation(self) -> OperationContextManager:
        """See Strawberry."""
        return _Operation(self.extensions)

    def parsing(self) -> ParsingContextManager:
        """See Strawberry."""
        return _Parsing(self.extensions)

    def validation(self) -> ValidationContextManager:
        """See Strawberry."""
        return _Validation(self.extensions)

    def executing(self) -> ExecutingContextManager:
        """See Strawberry."""
        return _Executing(self.extensions)

    def on_stream_result(self, result: StreamExecutionResult) -> StreamResultContextManager:
        """See Strawberry."""
        return _StreamResult(self.extensions, result)

    async def get_extensions_results(self, ctx: ExecutionContext) -> dict[str, Any]:
        """See Strawberry."""
        if any(_has_results(one) for one in self.extensions):
            return await super().get_extensions_results(ctx)
        return dict(ctx.extensions_results)


def _has_results(extension: SchemaExtension) -> bool:
    return getattr(extension.get_results, "__func__", None) is not SchemaExtension.get_results


# Applications may make classes as they go.
@lru_cache(256)
def _around(hook: Callable[..., Any]) -> tuple[Callable[..., Any] | None, bool]:
    """The hook as a context manager, None where it is no generator; and whether it is to be awaited."""
    if inspect.isgeneratorfunction(hook):
        return contextmanager(hook), False
    if inspect.isasyncgenfunction(hook):
        return asynccontextmanager(hook), True
    return None, False
