"""Functions that the model implements (rule A100)."""

import functools
import inspect
from collections.abc import Callable, Coroutine
from types import MethodType, NoneType
from typing import Any, ParamSpec, TypeVar, overload

from dovetail.agent.base import BaseAgent
from dovetail.agent.fluent import TypedRequest
from dovetail.concurrency import run_sync
from dovetail.errors import SignatureError
from dovetail.schema.from_annotation import is_annotation, split_annotated
from dovetail.schema.hints import read_enclosing, read_hints

P = ParamSpec("P")
R = TypeVar("R")


class AutoFuncExtension(BaseAgent):
    """An agent extension: the decorator `auto_func`.

    >>> @Agent().auto_func
    ... def judge(review: str) -> bool:
    ...     '''Say whether the customer is content.'''
    >>> judge("The drawer runs like on the first day.")
    True
    """

    @overload
    def auto_func(self, function: Callable[P, R]) -> Callable[P, R]: ...
    @overload
    def auto_func(self) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    def auto_func(self, function: Any = None) -> Any:
        """Let the model do what the function's signature and docstring say; with or without brackets.

        The arguments become the input, the docstring the instruction and the return annotation the output:
        a type, or an output schema. Coroutine functions stay awaitable; `self` of a method is left out.

        Raises:
            SignatureError: the function is a generator, or has no return annotation.

        >>> @Agent().auto_func
        ... async def judge(review: str) -> bool:
        ...     '''Say whether the customer is content.'''
        >>> asyncio.run(judge("The drawer runs like on the first day."))
        True
        """
        return self.auto_func if function is None else self._implement(function)

    def _implement(self, function: Any) -> Any:
        method: Any = function
        if type(method) in (staticmethod, classmethod):
            return type(method)(self.auto_func(method.__func__))
        _refuse_generator(function)
        promise = _Promise(function)
        signature = inspect.signature(function)

        def write(args: Any, kwargs: Any) -> BaseAgent | TypedRequest[Any]:
            given = _bind(signature, args, kwargs)
            expected = promise.expected
            self.input(given)
            if notes := promise.notes:
                self.info(notes)
            if instruction := inspect.getdoc(function):
                self.instruct(instruction)
            return self.returns(expected) if is_annotation(expected) else self.output(expected)

        def async_call(args: Any, kwargs: Any) -> Coroutine[object, None, Any]:
            with self.pending.apart():  # separate from a request that is being written here
                return write(args, kwargs).async_start()

        def call(*args: Any, **kwargs: Any) -> Any:
            return run_sync(async_call(args, kwargs))

        if inspect.iscoroutinefunction(function):
            return _AsyncFunction(function, async_call)

        wrapper: Any = functools.wraps(function)(call)
        return wrapper


class _AsyncFunction:
    """A coroutine function that takes its request at the call, not when it is first awaited.

    It looks like the function that it replaces, so `inspect.iscoroutinefunction` is true of it.
    """

    def __init__(self, function: Any, call: Callable[[Any, Any], Coroutine[object, None, Any]]) -> None:
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
        raise SignatureError(f"{function!r} is not a function.", hint="Write one with `def` or `async def`.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise SignatureError(
            f"{function.__qualname__!r} is a generator, but a model answers once.",
            hint="Return the value; to act on its fields while they arrive, use agent.wait_keys.",
        )


class _Promise:
    """The annotations of a function, which may use names that are defined below it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._enclosing = read_enclosing(function)
        if "return" not in getattr(function, "__annotations__", {}) or self._hints.get("return") is NoneType:
            raise SignatureError(
                f"{function.__qualname__!r} does not declare what it returns, so the model cannot know.",
                hint="Annotate it with a type, or with a schema such as {'name': (str, 'in English')}.",
            )

    @property
    def expected(self) -> Any:
        """The type, or the output schema, that the function returns."""
        if "return" not in self._hints:
            del self._hints  # read again: the name may be defined by now
        if "return" not in self._hints:
            written = self._function.__annotations__["return"]
            raise SignatureError(
                f"{self._function.__qualname__!r} returns {written!r}, which is not defined.",
                hint="Define or import the type before the function is called.",
            )
        return self._hints["return"]

    @property
    def notes(self) -> dict[str, str]:
        """The descriptions of the parameters in `Annotated`."""
        notes = {name: split_annotated(hint)[1] for name, hint in self._hints.items() if name != "return"}
        return {name: note for name, note in notes.items() if note}

    @functools.cached_property
    def _hints(self) -> dict[str, Any]:
        return read_hints(self._function, self._enclosing)
