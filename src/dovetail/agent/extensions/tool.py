"""The tools of an agent, for any model (rules A20 and A40)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from dovetail.agent.base import BaseAgent
from dovetail.agent.fluent import TypedRequest
from dovetail.agent.request import REQUESTER, TOOL_EVENTS, NativeTools
from dovetail.concurrency import run_sync
from dovetail.data.shapes import is_mapping
from dovetail.data.text import shorten
from dovetail.errors import ConfigError, SignatureError
from dovetail.lazy import lazy
from dovetail.prompt.prompt import Prompt
from dovetail.settings import Settings
from dovetail.settings.sections import ToolSettings

if TYPE_CHECKING:
    from dovetail.agent.base import Usable
    from dovetail.agent.extensions.tool_use import RequestTools
    from dovetail.tools.snapshot import ToolSnapshot
    from dovetail.tools.tool import Tool
    from dovetail.tools.toolbox import Toolbox

_function = lazy("dovetail.tools.makers.function")
_langchain = lazy("dovetail.tools.makers.langchain")
_tool = lazy("dovetail.tools.tool")
_tool_use = lazy("dovetail.agent.extensions.tool_use")
_toolbox = lazy("dovetail.tools.toolbox")

_AGENTS: tuple[type[Any], ...] = (BaseAgent, TypedRequest)

F = TypeVar("F", bound=Callable[..., Any])


class ToolExtension(BaseAgent):
    """An agent extension: the agent's own tools, and how requests use them.

    The setting `tools.strategy` says how: `judge` asks the model first, in a request of its own, whether it
    needs a tool; `native` leaves it to the model's function calls; `auto` is `native` if the model supports
    function calls, otherwise `judge`.

    >>> agent = Agent()
    >>> @agent.tool_func
    ... def count(item: str) -> int:
    ...     '''Count the pieces of an item.'''
    ...     return 3
    >>> agent.tools
    ToolSnapshot(['count'], generation=...)
    """

    def set_up(self) -> None:
        """Take part in every request of the agent."""
        super().set_up()
        self.extension_handlers.append("request_prefixes", self._use_tools)
        self.extension_handlers.append("broadcast_prefixes", self._send_events)

    def begin_with(self, argument: str, value: Any) -> None:
        """Apply a further argument of the constructor; `tools` are added as with `use_tools`."""
        if argument == "tools":
            self.use_tools(value or ())
        else:
            super().begin_with(argument, value)

    def list_traits(self) -> dict[str, Any]:
        """Return what the agent's `repr` shows, with its tools, if there are any."""
        names = [tool.name for tool in self.tools] if "_toolbox" in vars(self) else []
        return {**super().list_traits(), **({"tools": names} if names else {})}

    @property
    def tools(self) -> "ToolSnapshot":
        """The agent's tools, in the order of their registration."""
        return self.runtime.manager.list_box(self._toolbox)

    def register_tool(
        self,
        name: str,
        desc: str,
        kwargs: Mapping[str, Any],
        func: Callable[..., Any],
        returns: Any = None,
    ) -> Self:
        """Add a tool by its name, its description and its parameters as `{name: (type, description)}`.

        >>> agent = Agent().register_tool("measure", "Count the letters.", {"text": (str, "a word")}, len)
        >>> [tool.parameters["properties"] for tool in agent.tools]
        [{'text': {'type': 'string', 'description': 'a word'}}]
        """
        self._toolbox.add(self.runtime.manager.make(name, desc, kwargs, func, returns))
        return self

    @overload
    def tool_func(self, func: F) -> F: ...
    @overload
    def tool_func(self) -> Callable[[F], F]: ...
    def tool_func(self, func: Any = None, **options: Any) -> Any:
        """Add a function as a tool; a decorator that leaves the function as it is, with or without brackets.

        Raises:
            SignatureError: an option was given; `@tool(…)` takes options.

        >>> agent = Agent()
        >>> @agent.tool_func
        ... def count(item: str) -> int:
        ...     '''Count the pieces of an item.'''
        ...     return 3
        >>> agent.input("How many chisels do we have?").start(), count("saw")
        ('Three.', 3)
        """
        if options or isinstance(func, str):
            raise SignatureError(
                f"tool_func takes a function, got {shorten(options or func)}.",
                hint="For a name or a kind, write `@tool(name='…', kind='…')` and `Agent(tools=[…])`.",
            )
        if func is None:
            return self.tool_func
        self._toolbox.add(func if isinstance(func, _tool.Tool) else _function.make_tool(func))
        return func

    def use_tools(self, tools: "Usable | Iterable[Usable]") -> Self:
        """Add tools: functions, `Tool`s of any kind, other agents (also typed), or registered ones by name.

        >>> carpenter = Agent("carpenter", system="You know woods.")
        >>> def count(item: str) -> int:
        ...     '''Count the pieces of an item.'''
        ...     return 3
        >>> Agent().use_tools([count, carpenter]).tools
        ToolSnapshot(['count', 'carpenter'], generation=...)
        """
        several: Any = tools
        if is_mapping(tools):
            raise ConfigError(
                f"Tools must be a list, got the mapping {shorten(tools)}.", hint="Write tools=[add, find]."
            )
        if isinstance(tools, str) or not isinstance(tools, Iterable):
            several = [tools]
        for tool in several:
            self._use_one(tool)
        return self

    def use_tool(self, tool: "Usable") -> Self:
        """Add one tool.

        >>> Agent().use_tool(Agent("carpenter", system="You know woods.")).tools
        ToolSnapshot(['carpenter'], generation=...)
        """
        return self.use_tools(tool)

    async def async_use_mcp(self, transport: Any) -> Self:
        """Add all tools of an MCP server, or of several.

        >>> async def list_tools() -> None:
        ...     async with Agent() as agent:  # closes the connection at the end
        ...         print((await agent.async_use_mcp("shed.py")).tools)
        >>> asyncio.run(list_tools())
        ToolSnapshot(['sharpen'], generation=...)
        """
        self._toolbox.origins |= await self.runtime.manager.servers.connect(transport)
        return self

    def use_mcp(self, transport: Any) -> Self:
        """Add all tools of an MCP server, or of several.

        >>> with Agent() as agent:  # closes the connection at the end
        ...     agent.use_mcp("shed.py").tools  # also a URL, or {"command": …, "args": […]}
        ToolSnapshot(['sharpen'], generation=...)
        """
        return run_sync(self.async_use_mcp(transport))

    async def async_close(self) -> None:
        """Close the connections that only this agent uses, and remove the tools of its MCP servers.

        >>> agent = Agent().use_mcp("shed.py")
        >>> asyncio.run(agent.async_close())
        >>> agent.tools
        ToolSnapshot([], generation=...)
        """
        await super().async_close()
        if "_toolbox" in vars(self):
            await self.runtime.manager.close_box(self._toolbox)

    def get_native_tools(self, settings: Settings) -> NativeTools | None:
        """Return the tools that the model may call by itself, if the strategy is `native`."""
        if self._choose_strategy(settings) != "native":
            return None
        return self._make_request_tools(settings)

    @cached_property
    def _agents(self) -> "dict[BaseAgent | TypedRequest[Any], Tool]":
        return {}

    @cached_property
    def _toolbox(self) -> "Toolbox":
        return self.runtime.manager.open_box(f"agent-{self.name}", f"agent {self.name!r}")

    def _use_one(self, tool: Any) -> None:
        if isinstance(tool, str):
            self._use_name(tool)
        elif isinstance(tool, _tool.Tool):
            self._use_tool(tool)
        elif isinstance(tool, _AGENTS) and hasattr(tool, "as_tool"):
            self._use_agent(tool)
        elif callable(tool):
            self._use_function(tool)
        else:
            raise ConfigError(
                f"{shorten(tool)} is not a tool.",
                hint=_langchain.LANGCHAIN_HINT
                if _langchain.is_langchain(tool)
                else "Pass a function, a `Tool`, an agent, or the name of a registered tool.",
            )

    def _use_agent(self, agent: Any) -> None:
        """Add another agent; the same one twice is one tool."""
        known = self._agents.get(agent)
        if known is None:
            known = self._agents[agent] = agent.as_tool()
        self._use_tool(known)

    def _use_name(self, name: str) -> None:
        """Add the registered tool of that name, otherwise the only tool of that name that an agent has."""
        registry = self.runtime.manager.registry
        if registry.get_tool(name) is None and self._toolbox.get(name) is not None:
            return
        try:
            found = self.runtime.manager.find(name)
        except ConfigError as error:
            if error.hint is None and name.isidentifier():
                error.hint = f"Pass a function itself, without quotes: tools=[{name}]."
            raise
        self._use_tool(found)

    def _use_tool(self, tool: "Tool") -> None:
        if self.runtime.manager.registry.get_tool(tool.name) is tool:
            self._toolbox.use(tool)
        else:
            self._toolbox.add(tool)

    def _use_function(self, function: Callable[..., Any]) -> None:
        """Add a function; if it is registered already, under any name, use that tool."""
        if self._toolbox.find(function) is None:
            known = _toolbox.find_function(self.runtime.manager.registry.get_all_tools(), function)
            self._use_tool(known or _function.make_tool(function))

    def _choose_strategy(self, settings: Settings) -> str:
        strategy = settings.section(ToolSettings).strategy
        return "native" if strategy != "judge" and self.requester.calls_tools else "judge"

    async def _use_tools(self, prompt: Prompt, settings: Settings) -> None:
        """Ask whether a tool is needed and run it, up to `tools.max_rounds` times."""
        used = self._make_request_tools(settings)
        if used is not None and self._choose_strategy(settings) == "judge":
            await used.judge(prompt)

    def _make_request_tools(self, settings: Settings) -> "RequestTools | None":
        """Return the tools of a request, if the agent has any; otherwise no module of tools is loaded."""
        may_have_tools = "_toolbox" in vars(self) or "manager" in vars(self.runtime)
        tools = self.tools if may_have_tools else ()
        if not len(tools):
            return None
        requester = settings.get(REQUESTER) or self.requester
        return _tool_use.RequestTools(self.name, self.runtime, requester, settings, tools)

    def _send_events(self, result_data: dict[str, Any], settings: Settings) -> Iterator[tuple[str, Any]]:
        for event, data in settings.get(TOOL_EVENTS) or ():
            if event == "tool":
                _tool_use.publish_log(data, result_data, self.runtime, settings)
            yield event, data
        settings.delete(TOOL_EVENTS)
