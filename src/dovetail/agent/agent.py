"""`Agent`: the agent that most programs use."""

from collections.abc import Coroutine
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from dovetail.agent.arguments import Listed, refuse_second_input, warn_of_second_output
from dovetail.agent.base import list_messages
from dovetail.agent.expectation import expect_type
from dovetail.agent.extensions.auto_func import AutoFuncExtension
from dovetail.agent.extensions.configure_prompt import ConfigurePromptExtension
from dovetail.agent.extensions.key_waiter import KeyWaiterExtension
from dovetail.agent.extensions.tool import ToolExtension
from dovetail.concurrency import run_sync, warn_if_blocking
from dovetail.errors import ConfigError
from dovetail.lazy import lazy

if TYPE_CHECKING:
    from typing_extensions import TypeForm, TypeVar

    from dovetail.agent.chat import Chat
    from dovetail.agent.extensions.chat_store import ChatStore
    from dovetail.agent.run import AgentRun, RunOptions, RunStream
    from dovetail.events.run_result import RunResult
    from dovetail.events.tool_context import ToolContext
    from dovetail.tools.tool import Tool

    V = TypeVar("V", default=Any)

_as_tool = lazy("dovetail.agent.as_tool")
_chat = lazy("dovetail.agent.chat")
_chat_store = lazy("dovetail.agent.extensions.chat_store")
_run = lazy("dovetail.agent.run")

_ANY: Any = None  # the type of a run that may return anything


class Agent(ToolExtension, KeyWaiterExtension, AutoFuncExtension, ConfigurePromptExtension, metaclass=Listed):
    """An agent: a prompt, a model and tools, with a fluent interface.

    `start` asks once and returns the answer; `run` works turn after turn with tools and returns a result.

    >>> agent = Agent(system="You know woods.", model="openai:gpt-4.1-mini")
    >>> agent.input("Woods for doors?").returns(list[str]).start()
    ['oak', 'teak']
    >>> agent.run("Which one for boats?").text
    'Teak.'
    """

    def async_run(
        self, task: Any = None, *, returns: "TypeForm[V]" = _ANY, **options: "Unpack[RunOptions]"
    ) -> "Coroutine[object, None, RunResult[V]]":
        """Work on a task turn after turn, with all the agent's tools, until it is done or a limit is reached.

        `async_start` asks once and returns the answer itself. The result has the `text`, the `data` if there
        is an output, the `reason` and the `usage`.

        >>> result = asyncio.run(Agent().async_run("A wood for doors?", returns=dict[str, str]))
        >>> result.data
        {'wood': 'oak'}
        """
        _run.check_options(options)
        return self._make_run(task, returns, options).go(options)

    def run(
        self, task: Any = None, *, returns: "TypeForm[V]" = _ANY, **options: "Unpack[RunOptions]"
    ) -> "RunResult[V]":
        """Work turn after turn, with tools, and return a result with `text` and `data`; `start` asks once.

        With `returns` the `data` is an instance of that type, as in `agent.run("Oak?", returns=Quote).data`:
        an answer that does not fit is asked for again, with the reason.

        Raises:
            ResponseError: `returns` was given, and the run ended without an instance.

        >>> result = Agent().run("A wood for doors?", limits={"turns": 5, "seconds": 60})
        >>> result.text, result.reason, result.turns
        ('Oak.', 'goal', 1)
        """
        warn_if_blocking("run()", "await agent.async_run('…')")
        return run_sync(self.async_run(task, returns=returns, **options))

    def run_stream(
        self, task: Any = None, *, returns: "TypeForm[V]" = _ANY, **options: "Unpack[RunOptions]"
    ) -> "RunStream[V]":
        """Work on a task turn after turn, and yield what happens: for `async for`, and for a plain `for`.

        The events are those of `dovetail.events`, a union that type checkers know; the first is a
        `RunStart`, the last a `RunEnd`. Afterwards the stream has the `result`. Leaving the loop stops the
        run.

        >>> stream = Agent().run_stream("A wood for doors?")
        >>> [event.type for event in stream]
        ['run-start', 'model-request', 'text-start', 'text-delta', 'text-end', 'turn-end', 'run-end']
        >>> stream.result.text
        'Oak.'
        """
        _run.check_options(options)
        return _run.RunStream(self._make_run(task, returns, options), options)

    def chat(self, chat_id: str = "chat", *, store: "ChatStore | None" = None) -> "Chat":
        """Return the conversation of that id, in which each run continues the one before.

        It is kept in memory, for the life of this agent, or in a store such as a `FolderChatStore`.

        >>> chat = Agent().chat("ann")
        >>> chat.run("A wood for doors?").text, len(chat.messages)
        ('Oak.', 2)
        """
        return _chat.Chat(chat_id, store or self._chats, self.settings, self._make_run)

    @cached_property
    def _chats(self) -> "ChatStore":
        return _chat_store.MemoryChatStore()

    def as_tool(
        self, *, name: str | None = None, description: str | None = None, returns: Any = None
    ) -> "Tool":
        """Return the agent as a tool for other agents, as `Agent(tools=[agent])` does.

        The description defaults to the agent's system prompt. With `returns` its result is an instance of
        that type, which the caller reads as JSON.

        Raises:
            ConfigError: the agent has no name that a tool may have, or nothing that could describe it.

        >>> carpenter = Agent("carpenter", system="You know woods.")
        >>> Agent(tools=[carpenter.as_tool(name="ask_carpenter")]).tools
        ToolSnapshot(['ask_carpenter'], generation=...)
        """
        if name is None and not self._is_named:
            raise ConfigError(
                "An agent needs a name to be used as a tool.",
                hint="Write Agent('researcher', …), or agent.as_tool(name='researcher').",
            )
        called = name or self.name

        def make_run(task: str, call: "ToolContext") -> "AgentRun":
            with self.pending.apart():
                return self._make_run(task, returns, call=call)

        return _as_tool.make_agent_tool(
            called,
            description or _as_tool.describe_agent(called, self.agent_prompt.get("system")),
            make_run=make_run,
            list_tools=lambda: self.tools,
        )

    def _make_run(
        self,
        task: Any,
        returns: Any = None,
        options: "RunOptions | None" = None,
        call: "ToolContext | None" = None,
    ) -> "AgentRun[Any]":
        if task is not None:
            refuse_second_input(self.request_prompt.get("input", inherit=False), task)
            self.input(task)
        typed = expect_type(returns)
        if typed is not None:
            warn_of_second_output(self.request_prompt.get("output", inherit=False), typed.kind)
        # A run has its own guard of the limits.
        request, tools = replace(self._take_request(), requester=self.requester), self.tools
        history = list_messages((options or {}).get("history"))
        if history:
            known = list_messages(request.prompt.get("chat_history"))
            request.prompt.replace("chat_history", [*known, *history])
        return _run.AgentRun(
            agent=self.name,
            request=request,
            tools=tools,
            runtime=self.runtime,
            call=call,
            typed=typed,
            history=history,
        )
