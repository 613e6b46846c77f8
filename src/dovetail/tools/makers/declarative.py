"""Tools as classes (rule S90): the tool describes itself and builds an invocation for each call.

A declarative tool is a `Tool`: it is registered, found, validated and approved like any other.
"""

import asyncio
import copy
import dataclasses
import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeAlias

from typing_extensions import TypeVar

from dovetail.data.shapes import is_mapping
from dovetail.data.text import shorten
from dovetail.errors import ToolError
from dovetail.events.call import Kind
from dovetail.events.tool_context import ToolContext
from dovetail.policy.bus import MessageBus
from dovetail.schema.problem import describe_problems
from dovetail.schema.validate import Checker
from dovetail.tools.tool import Tool

logger = logging.getLogger(__name__)

UpdateOutput: TypeAlias = Callable[[Any], object]

ParamsT = TypeVar("ParamsT", bound=Mapping[str, Any], default=Mapping[str, Any], covariant=True)
ResultT = TypeVar("ResultT", default=Any, covariant=True)


class ToolInvocation(Protocol[ParamsT, ResultT]):
    """One call of a declarative tool, with valid parameters.

    >>> class Greeting(BaseToolInvocation):
    ...     async def execute(self, signal, update_output=None):
    ...         return f"Hello, {self.params['name']}."
    >>> asyncio.run(Greeting({"name": "Ann"}).execute(asyncio.Event()))
    'Hello, Ann.'
    """

    @property
    def params(self) -> ParamsT:
        """The parameters of the call."""
        ...

    def get_description(self) -> str:
        """Describe in a few words what the call will do."""
        ...

    async def execute(self, signal: asyncio.Event, update_output: UpdateOutput | None = None) -> ResultT:
        """Run the call; stop when `signal` is set, and show progress through `update_output`."""
        ...


class BaseToolInvocation(ABC, Generic[ParamsT, ResultT]):
    """Base class of invocations; `context` is set when the pipeline runs the call.

    >>> class Greeting(BaseToolInvocation):
    ...     async def execute(self, signal, update_output=None):
    ...         return f"Hello, {self.params['name']}."
    >>> Greeting({"name": "Ann"}).params
    {'name': 'Ann'}
    """

    def __init__(self, params: ParamsT, message_bus: MessageBus | None = None) -> None:
        self.params = params
        self.message_bus = message_bus
        self.context: ToolContext | None = None

    def get_description(self) -> str:
        """Describe what the call will do; empty unless a subclass overrides it."""
        return ""

    @abstractmethod
    async def execute(self, signal: asyncio.Event, update_output: UpdateOutput | None = None) -> ResultT:
        """Do it."""


class DeclarativeTool(Tool, ABC, Generic[ParamsT, ResultT]):
    """A tool that builds an invocation for each call; subclasses define `build`.

    >>> issubclass(BaseDeclarativeTool, DeclarativeTool), issubclass(DeclarativeTool, Tool)
    (True, True)
    """

    def __init__(  # noqa: PLR0913 - the contract of declarative tools, in this order
        self,
        name: str,
        display_name: str,
        description: str,
        kind: Kind,
        parameter_schema: Mapping[str, Any],
        is_output_markdown: bool = True,
        can_update_output: bool = False,
        message_bus: MessageBus | None = None,
        **choices: Any,
    ) -> None:
        super().__init__(
            name=name,
            display_name=display_name,
            description=description,
            kind=kind,
            parameters=parameter_schema,
            is_output_markdown=is_output_markdown,
            can_update_output=can_update_output,
            execute=self._run,
            **choices,
        )
        self.message_bus = message_bus

    def __setattr__(self, name: str, value: Any) -> None:
        """Protect the fields of a tool; subclasses may have attributes of their own."""
        if name in _FIELDS:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    @abstractmethod
    def build(self, params: Mapping[str, Any]) -> ToolInvocation[ParamsT, ResultT]:
        """Return the invocation for these parameters; invalid ones raise a `ToolError`."""

    def describe(self, args: Mapping[str, Any]) -> str:
        """Describe what a call with these arguments will do, in the words of its invocation."""
        try:
            return self._build_checked(args).get_description() or self.title
        except Exception:
            logger.exception("tool %r failed to describe a call", self.name)
            return self.title

    def _build_checked(self, args: Mapping[str, Any]) -> ToolInvocation[ParamsT, ResultT]:
        """Return the invocation for arguments that the pipeline has checked."""
        return self.build(args)

    async def _run(self, args: dict[str, Any], context: ToolContext) -> Any:
        invocation = self._build_checked(args)
        if isinstance(invocation, BaseToolInvocation):
            invocation.context = context
        update = context.update if self.can_update_output else None
        result: Any = _execute(invocation, context.cancelled, update)
        return await result if inspect.isawaitable(result) else result


class BaseDeclarativeTool(DeclarativeTool[ParamsT, ResultT]):
    """A declarative tool that checks parameters by its schema; subclasses define `create_invocation`.

    >>> class Greeting(BaseToolInvocation):
    ...     async def execute(self, signal, update_output=None):
    ...         return f"Hello, {self.params['name']}."
    >>> class Greet(BaseDeclarativeTool):
    ...     def create_invocation(self, params):
    ...         return Greeting(params)
    >>> schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    >>> greet = Greet("greet", "Greet", "Greet a person.", Kind.Communicate, schema)
    >>> greet.build({"name": "Ann"}).params
    {'name': 'Ann'}
    """

    def build(self, params: Mapping[str, Any]) -> ToolInvocation[ParamsT, ResultT]:
        """Return the invocation for these parameters as they are now.

        Raises:
            ToolError: the parameters are not valid.
        """
        if not is_mapping(params):
            problem = f"they must be an object of names and values, got {shorten(params)}"
            raise ToolError(f"Invalid arguments for {self.name!r}: {problem}", type="invalid_tool_params")
        check_arguments(self.name, self.checker, params)
        return self.create_invocation(copy.deepcopy(dict(params)))

    def _build_checked(self, args: Mapping[str, Any]) -> ToolInvocation[ParamsT, ResultT]:
        return self.create_invocation(args)

    @abstractmethod
    def create_invocation(self, params: Any) -> ToolInvocation[ParamsT, ResultT]:
        """Return the invocation for valid parameters."""


def _execute(invocation: ToolInvocation[Any, Any], signal: asyncio.Event, update: UpdateOutput | None) -> Any:
    """Call `execute` with the arguments it accepts; it may do without `update_output`."""
    execute: Callable[..., Any] = invocation.execute
    try:
        inspect.signature(execute).bind(signal, update)
    except TypeError:
        return execute(signal)
    return execute(signal, update)


def check_arguments(owner: str, checker: Checker, args: Mapping[str, Any]) -> None:
    """Reject arguments that do not fit a schema.

    Raises:
        ToolError: they do not fit; the message says why.
    """
    try:
        problems = checker.find_problems(dict(args))
        text = describe_problems(problems) if problems else ""
    except ValueError as error:  # a value that JSON does not know
        text = str(error)
    if text:
        raise ToolError(f"Invalid arguments for {owner!r}: {text}", type="invalid_tool_params")


_FIELDS = frozenset(field.name for field in dataclasses.fields(Tool) if field.init)
