"""Make tools from functions: the schema comes from the signature, the descriptions from the docstring.

Sync functions run in a thread. A generator's yields are shown as progress; its result is its return value,
otherwise its yields joined if all are text, otherwise the last one. A parameter annotated `ToolContext`
receives the call's context and is hidden from the model.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Generic, ParamSpec, TypedDict, TypeVar, Unpack, cast, overload

from dovetail.data.text import explain_unknown
from dovetail.errors import SignatureError
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.schema.docstring import read_docstring
from dovetail.schema.from_function import Signature, read_signature
from dovetail.schema.number_types import make_converter
from dovetail.tools.threads import run_in_thread
from dovetail.tools.tool import Execute, Preview, Tool, check_name

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FunctionTool(Tool, Generic[P, R]):
    """A tool made from a function; calling it calls the function directly, without the pipeline."""

    function: Callable[P, R]
    returns: Any = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function directly."""
        return self.function(*args, **kwargs)


class ToolFields(TypedDict, total=False):
    """The fields of `Tool` that the maker of a tool may choose."""

    display_name: str
    tags: tuple[str, ...]
    origin: str
    source: str
    is_output_markdown: bool
    can_update_output: bool
    idempotent: bool
    resumable: bool
    needs_tab: bool
    time_limit: float | None
    takes: frozenset[str] | None
    steps_aside: bool
    preview: Preview | None


class ToolChoices(ToolFields, total=False):
    """The options of `tool`."""

    name: str | None
    description: str | None
    kind: Kind | str
    parameters: Mapping[str, Any] | None


@overload
def tool(function: Callable[P, R], /, **choices: Unpack[ToolChoices]) -> FunctionTool[P, R]: ...
@overload
def tool(**choices: Unpack[ToolChoices]) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def tool(function: Callable[..., Any] | None = None, /, **choices: Unpack[ToolChoices]) -> Any:
    """Make a tool from a function: `@tool`, or with options of `make_tool`, `@tool(kind=Kind.Read)`.

    >>> @tool(kind=Kind.Read)
    ... def count(item: str) -> int:
    ...     '''Count the pieces of an item.'''
    ...     return 3
    >>> Agent(tools=[count]).run("How many chisels?").text
    'Three.'
    >>> count("chisel")  # calling it calls the function
    3
    """
    return partial(make_tool, **choices) if function is None else make_tool(function, **choices)


def make_tool(
    function: Callable[P, R],
    *,
    name: str | None = None,
    description: str | None = None,
    kind: Kind | str = Kind.Other,
    parameters: Mapping[str, Any] | None = None,
    **choices: Unpack[ToolFields],
) -> FunctionTool[P, R]:
    """Return a tool that calls `function`; `parameters` is a JSON Schema that replaces the signature's.

    Other options are fields of `Tool`, such as `display_name`, `tags`, `idempotent`, `time_limit`.

    Raises:
        SignatureError: an option is unknown, or the function cannot be a tool.

    >>> make_tool(len, name="count", description="Count.", parameters={"type": "object", "properties": {}})
    FunctionTool(name='count', description='Count.', parameters=[], kind='other')
    """
    _refuse_unknown(choices)
    if isinstance(function, FunctionTool):
        function = function.function
    described = _unwrap(function)
    docstring = read_docstring(inspect.getdoc(described))
    signature = read_signature(function, docstring.parameters, is_described=parameters is not None)
    own = signature.schema
    if parameters is not None and not own["additionalProperties"]:
        choices.setdefault("takes", frozenset(own["properties"]))
    schema = own if parameters is None else parameters
    signature = replace(signature, type_numbers=make_converter(schema, signature.converters.keys()))
    called = name or getattr(described, "__name__", type(described).__name__)
    check_name(called)
    qualified_name = getattr(described, "__qualname__", type(described).__qualname__)
    choices.setdefault("source", f"{getattr(described, '__module__', None)}:{qualified_name}")
    choices.setdefault("can_update_output", _is_generator(function))
    return FunctionTool(
        name=called,
        description=(docstring.description or called) if description is None else description,
        parameters=schema,
        kind=cast("Kind", kind),  # a tool reads its kind
        execute=_make_execute(function, signature),
        function=function,
        returns=signature.returns,
        **choices,
    )


def _refuse_unknown(choices: ToolFields) -> None:
    known = [field.name for field in fields(Tool) if field.init and field.name != "execute"]
    for name in choices:
        if name not in known:
            raise SignatureError(explain_unknown("option of a tool", name, known))


def _unwrap(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function behind a `functools.partial`: its name and docstring describe the tool."""
    while isinstance(function, partial):
        function = cast("partial[Any]", function).func
    return function


def _is_generator(function: Callable[..., Any]) -> bool:
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


def _make_execute(function: Callable[..., Any], signature: Signature) -> Execute:
    call = getattr(function, "__call__", None)  # noqa: B004 - a callable object may have an async call
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call):

        async def execute(args: dict[str, Any], context: ToolContext) -> Any:
            return await signature.bind(function, args, context)()

    elif inspect.isasyncgenfunction(function):

        async def execute(args: dict[str, Any], context: ToolContext) -> Any:
            return await _drain(signature.bind(function, args, context)(), context)

    elif inspect.isgeneratorfunction(function):

        async def execute(args: dict[str, Any], context: ToolContext) -> Any:
            make = signature.bind(function, args, context)
            return await run_in_thread(lambda: _drain_sync(make(), context))

    else:

        async def execute(args: dict[str, Any], context: ToolContext) -> Any:
            value = await run_in_thread(signature.bind(function, args, context))
            return await value if inspect.isawaitable(value) else value

    return execute


async def _drain(items: AsyncIterator[Any], context: ToolContext) -> Any:
    yielded: list[Any] = []
    async for item in items:
        yielded.append(item)
        context.update(item)
    return _sum_up(yielded)


def _drain_sync(items: Iterator[Any], context: ToolContext) -> Any:
    yielded: list[Any] = []
    while True:
        context.check_cancelled()
        try:
            item = next(items)
        except StopIteration as end:
            return _sum_up(yielded) if end.value is None else end.value
        yielded.append(item)
        context.update(item)


def _sum_up(yielded: list[Any]) -> Any:
    if yielded and all(isinstance(item, str) for item in yielded):
        return "".join(yielded)
    return yielded[-1] if yielded else None
