"""Functions of an application that may block."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

__all__ = ["in_thread"]

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a function in a thread of its own, with the caller's context variables.

    The thread is a daemon, and nobody waits for it once the caller is cancelled: a function that never
    returns takes no other's place and does not keep the process from ending, as it would in an executor.
    """
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def work() -> None:
        future.set_running_or_notify_cancel()
        try:
            future.set_result(context.run(function, *args, **kwargs))
        except StopIteration as error:
            # No future takes this one, and no coroutine lets it through.
            future.set_exception(RuntimeError(f"it raised {error!r}"))
        except BaseException as error:
            future.set_exception(error)

    name = getattr(function, "__name__", type(function).__name__)
    threading.Thread(target=work, name=f"stello-graph {name}", daemon=True).start()
    return await asyncio.wrap_future(future)
