"""Functions whose body is the model (document 000, 3)."""

import functools
import inspect
import typing
from collections.abc import Callable, Coroutine
from types import MethodType
from typing import Any, ParamSpec, TypeVar

from dovetail.agent.base import BaseAgent
from dovetail.agent.returns import TypedRequest
from dovetail.concurrency import run_sync
from dovetail.data.annotations import is_annotation
from dovetail.errors import SignatureError
from dovetail.tools.annotation import split_annotated

P = ParamSpec("P")
R = TypeVar("R")


class AutoFuncExtension(BaseAgent):
    """An agent extension: the decorator `auto_func`."""

    def auto_func(self, function: Callable[P, R]) -> Callable[P, R]:
        """Let the model do what the function's signature and docstring say.

        The arguments become the input, the docstring the instruction and the return annotation the output:
        a type, or an output schema. Coroutine functions stay awaitable; `self` of a method is left out.

        Raises:
            SignatureError: the function is a generator, or has no return annotation.
        """
        _refuse_generator(function)
        hints = _read_hints(function)
        expected = _read_return(function, hints)
        signature = inspect.signature(function)
        notes = {name: note for name, hint in hints.items() if (note := split_annotated(hint)[1])}
        notes.pop("return", None)

        def write(args: Any, kwargs: Any) -> BaseAgent | TypedRequest[Any]:
            self.input(_bind(signature, args, kwargs))
            if notes:
                self.info(notes)
            if instruction := inspect.getdoc(function):
                self.instruct(instruction)
            return self.returns(expected) if is_annotation(expected) else self.output(expected)

        def async_call(args: Any, kwargs: Any) -> Coroutine[Any, Any, Any]:
            with (
                self.pending.apart()
            ):  # a request that is half written here is none of the function's business
                return write(args, kwargs).async_start()

        def call(*args: Any, **kwargs: Any) -> Any:
            return run_sync(async_call(args, kwargs))

        if inspect.iscoroutinefunction(function):
            return _AsyncFunction(function, async_call)

        wrapper: Any = functools.wraps(function)(call)
        return wrapper


class _AsyncFunction:
    """A coroutine function that takes its request at the call; a plain one would when it is first awaited.

    It looks like the function that it stands for, so `inspect.iscoroutinefunction` is true of it.
    """

    def __init__(self, function: Any, call: Callable[[Any, Any], Coroutine[Any, Any, Any]]) -> None:
        functools.update_wrapper(self, function)
        self.__code__ = function.__code__
        self.__defaults__ = function.__defaults__
        self.__kwdefaults__ = function.__kwdefaults__
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(args, kwargs)

    def __get__(self, instance: Any, kind: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)


def _bind(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    names = list(signature.parameters)
    given = dict(bound.arguments)
    if names and names[0] in ("self", "cls"):
        del given[names[0]]
    return given


def _refuse_generator(function: Callable[..., Any]) -> None:
    if not inspect.isroutine(function):
        raise SignatureError(f"{function!r} is no function", hint="Write one with `def` or `async def`.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise SignatureError(
            f"{function.__qualname__!r} is a generator, and a model gives its answer once",
            hint="Return the value; to act on its fields while they arrive, use agent.wait_keys.",
        )


def _read_hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, SyntaxError):  # an output schema is no type
        return dict(getattr(function, "__annotations__", {}))


def _read_return(function: Callable[..., Any], hints: dict[str, Any]) -> Any:
    if "return" not in hints:
        raise SignatureError(
            f"{function.__qualname__!r} does not say what it returns, so the model cannot know",
            hint="Annotate it with a type, or with an output schema such as {'name': (str, 'in English')}.",
        )
    return hints["return"]
