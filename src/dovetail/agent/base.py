"""`BaseAgent`: the agent's own prompt, the requests made from it, and every view of their answers."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypedDict, TypeVar, Unpack, overload
from uuid import uuid4

from dovetail.agent.arguments import (
    check_model,
    check_name,
    check_requester,
    explain_argument,
    layer_settings,
    warn_of_second_output,
)
from dovetail.agent.expectation import TypedOutput, expect_output
from dovetail.agent.fluent import Asking, TypedRequest, open_later
from dovetail.agent.pending import PendingRequests
from dovetail.agent.request import REQUESTER, AgentRequest, ExtensionHandlers, NativeTools
from dovetail.agent.runtime import Runtime, default_runtime
from dovetail.concurrency import run_sync, warn_if_blocking
from dovetail.data.shapes import is_list, is_mapping, is_tuple
from dovetail.data.text import shorten
from dovetail.errors import SignatureError
from dovetail.events.call import ChatMessage
from dovetail.prompt.export import to_configuration, to_json, to_yaml
from dovetail.prompt.prompt import Prompt
from dovetail.requesters.requester import Requester
from dovetail.response.answer import DataType, Demands
from dovetail.response.response import Response
from dovetail.settings import Settings

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from dovetail.tools.tool import Tool

    Usable: TypeAlias = "str | Tool | BaseAgent | TypedRequest[Any] | Callable[..., Any]"

V = TypeVar("V")


class FirstWords(TypedDict, total=False):
    """What every request of an agent begins with: its system prompt, its options and its tools."""

    system: Any
    options: Mapping[str, Any]
    tools: "Iterable[Usable] | Usable"


class BaseAgent(Asking[Any]):
    """An agent without extensions: fill the prompt, then request the answer in the form you need.

    The agent's own prompt is part of every request; slots that are set without `always` are part of the next
    request only. Tasks and threads that use one agent at the same time do not see each other's requests. A
    request is taken when the method that sends it is called, such as `start` or `async_start`; a method that
    is not called but passed to a thread, such as `agent.input(q).start`, takes its request along.

    >>> agent = BaseAgent("clerk", system="You are brief.")
    >>> agent.input("A wood for ${what}?", {"what": "doors"}).start()
    'Oak.'
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        model: Any = None,
        settings: Settings | Mapping[str, Any] | None = None,
        requester: Requester | None = None,
        runtime: Runtime | None = None,
        **first: Unpack[FirstWords],
    ) -> None:
        self.name = name or f"agent-{uuid4().hex[:8]}"
        self._is_named = bool(name)
        self.runtime = runtime or default_runtime()
        self.settings = layer_settings(settings, self.runtime.settings)
        has_model = not (model is None and requester is None)
        check_name(self.name, self.settings, has_model=has_model, has_system="system" in first)
        self.agent_prompt = Prompt(settings=self.settings)
        self.extension_handlers = ExtensionHandlers()
        self._model = check_model(model)
        self._requester = check_requester(requester)
        if not (self._requester or model is None or isinstance(model, str)):
            self._requester = self.runtime.requester(model, self.settings)  # a wrong object fails here
        self._pending = PendingRequests(self.agent_prompt)
        self.set_up()
        for argument, value in first.items():
            self.begin_with(argument, value)

    def begin_with(self, argument: str, value: Any) -> None:
        """Apply a further argument of the constructor; agent extensions may add their own.

        Raises:
            SignatureError: the argument is not known; the message says what to write.
        """
        if argument == "system":
            self.system(value or "", always=True)
        elif argument == "options":
            self.options(value or {}, always=True)
        else:
            raise explain_argument(argument, type(self).__name__)

    def set_up(self) -> None:
        """Set up the agent, once, when it is created; agent extensions add their handlers here."""

    def __repr__(self) -> str:
        traits = (f", {name}={shorten(value)}" for name, value in self.list_traits().items())
        return f"{type(self).__name__}({self.name!r}{''.join(traits)})"

    def list_traits(self) -> dict[str, Any]:
        """Return what the agent's `repr` shows, as far as it is set; agent extensions may add to it."""
        # The default model is not looked up: an agent may be shown where none is set up.
        model = self._model if self._requester is None else self._requester.model
        traits = {"model": model, "system": self.agent_prompt.get("system")}
        return {name: value for name, value in traits.items() if value}

    @property
    def pending(self) -> PendingRequests:
        """The requests that are being written, each in its own task or thread."""
        return self._pending

    @property
    def request_prompt(self) -> Prompt:
        """The prompt of the next request, without the agent's own."""
        return self._pending.get().prompt

    @property
    def model(self) -> str:
        """The model's name, `provider:name`; set it to a name or an object to change the model."""
        return self.requester.model

    @model.setter
    def model(self, model: Any) -> None:
        self._model = check_model(model)
        self._requester = None

    @property
    def requester(self) -> Requester:
        """The requester of the model, resolved when it is first needed."""
        if self._requester is None:
            self._requester = self.runtime.requester(self._model, self.settings)
        return self._requester

    def set_settings(self, key: str, value: Any) -> Self:
        """Set a setting for this agent only.

        >>> agent = Agent().set_settings("response.max_retries", 0)
        >>> agent.settings["response.max_retries"], Agent().settings["response.max_retries"]
        (0, 3)
        """
        self.settings.set(key, value)
        return self

    def set_chat_history(self, history: ChatMessage | Iterable[ChatMessage]) -> Self:
        """Replace the history by one message or several.

        >>> said = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
        >>> agent = Agent().set_chat_history(said)
        >>> [message["content"] for message in agent.input("A wood?").request_prompt.to_messages()]
        ['Hi.', 'Hello.', 'A wood?']
        """
        self.agent_prompt.replace("chat_history", list_messages(history))
        return self

    def add_chat_history(self, history: ChatMessage | Iterable[ChatMessage]) -> Self:
        """Add one message or several to the history.

        >>> agent = Agent().add_chat_history({"role": "user", "content": "Hi."})
        >>> agent.add_chat_history({"role": "assistant", "content": "Hello."}).agent_prompt["chat_history"]
        [{'role': 'user', 'content': 'Hi.'}, {'role': 'assistant', 'content': 'Hello.'}]
        """
        known = list_messages(self.agent_prompt.get("chat_history"))
        self.agent_prompt.replace("chat_history", [*known, *list_messages(history)])
        return self

    def reset_chat_history(self) -> Self:
        """Clear the history.

        >>> agent = Agent(system="Be brief.").add_chat_history({"role": "user", "content": "Hi."})
        >>> agent.reset_chat_history().agent_prompt
        Prompt({'system': 'Be brief.'})
        """
        self.agent_prompt.delete("chat_history")
        return self

    def get_response(self, *, timeout: float | None = None) -> Response[Any]:
        """Return the response to the request; the next request begins empty.

        The request is sent when the response is first read. `timeout` is in seconds, for the whole answer.

        >>> response = Agent().input("A wood for doors?").get_response(timeout=60)
        >>> list(response.get_generator()), response.get_text()  # one request, read twice
        (['Oak.'], 'Oak.')
        """
        request = self._take_request()
        expected = expect_output(
            request.prompt, request.settings, with_schema=request.requester.follows_schema
        )
        return request.open(expected, timeout)

    def ask_for(self, typed: TypedOutput[V], *, timeout: float | None = None) -> Response[V]:
        """Return the response to the request, as an instance of a type."""
        warn_of_second_output(self.request_prompt.get("output", inherit=False), typed.kind)
        request = self._take_request()
        request.prompt.replace("output", typed.shown)
        expected = typed.expect(request.settings, with_schema=request.requester.follows_schema)
        return request.open(expected, timeout)

    @overload
    def returns(self, kind: type[V]) -> TypedRequest[V]: ...
    @overload
    def returns(self, kind: "TypeForm[V]") -> TypedRequest[V]: ...
    @overload
    def returns(self, kind: Any) -> TypedRequest[Any]: ...
    def returns(self, kind: Any) -> TypedRequest[Any]:
        """Return the next request, to be answered by an instance of `kind`, which may be any annotation.

        >>> Agent().input("Woods for doors?").returns(list[str]).start()
        ['oak', 'teak']
        """
        return TypedRequest(self, kind)

    def async_start(
        self, type: DataType = "parsed", *, timeout: float | None = None, **demands: Unpack[Demands]
    ) -> Coroutine[object, None, Any]:
        """Ask once and return the data: the parsed output, or the text without an output slot.

        >>> asyncio.run(Agent().input("A wood for doors?").async_start(timeout=60))
        'Oak.'
        """
        return open_later(
            lambda: self.get_response(timeout=timeout), lambda answer: answer.async_get_data(type, **demands)
        )

    def start(
        self, type: DataType = "parsed", *, timeout: float | None = None, **demands: Unpack[Demands]
    ) -> Any:
        """Ask once and return the answer itself: the parsed output, or the text; `run` works turn after turn.

        With tools there is at most one round of calls before the answer (`tools.max_rounds`). To get a
        validated object, write `returns(Model).start()`.

        >>> agent = Agent().input("A wood for doors?").output({"wood": (str,)})
        >>> agent.start(ensure_keys=["wood"])
        {'wood': 'oak'}
        """
        warn_if_blocking("start()", "await agent.input('…').async_start()")
        return run_sync(self.async_start(type, timeout=timeout, **demands))

    async def async_close(self) -> None:
        """Close everything that the agent holds open; also done at the end of `with` and `async with`.

        >>> async def ask() -> str:
        ...     async with Agent() as agent:  # calls it at the end
        ...         return await agent.input("A wood for doors?").async_start()
        >>> asyncio.run(ask())
        'Oak.'
        """

    def close(self) -> None:
        """Close everything that the agent holds open, such as connections to MCP servers.

        >>> with Agent() as agent:  # calls it at the end
        ...     agent.input("A wood for doors?").start()
        'Oak.'
        """
        run_sync(self.async_close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.async_close()

    def get_prompt_text(self) -> str:
        """Return the request as one text.

        >>> Agent().info("Oak is hard.").input("A wood?").get_prompt_text().splitlines()
        ['[INFO]:', 'Oak is hard.', '', '[INPUT]:', 'A wood?', '', '[OUTPUT]:']
        """
        lines = self.request_prompt.to_text().split("\n")
        return "\n".join(lines[1:-1])  # without the roles that frame it

    def get_json_prompt(self, save_to: str | Path | None = None) -> str:
        """Return the request as JSON that `load_json_prompt` reads.

        >>> text = Agent(system="Be brief.").input("A wood for doors?").get_json_prompt()
        >>> Agent().load_json_prompt(text).start()
        'Oak.'
        """
        return _save(to_json(self._export()), save_to)

    def get_yaml_prompt(self, save_to: str | Path | None = None) -> str:
        """Return the request as YAML that `load_yaml_prompt` reads.

        >>> text = Agent(system="Be brief.").input("A wood for doors?").get_yaml_prompt("ask.yaml")
        >>> Agent().load_yaml_prompt("ask.yaml").start()
        'Oak.'
        """
        return _save(to_yaml(self._export()), save_to)

    def get_prompt(self, always: bool) -> Prompt:
        """Return the prompt to write into: the agent's own, or that of the next request."""
        return self.agent_prompt if always else self._pending.get().prompt

    def get_native_tools(self, settings: Settings) -> NativeTools | None:
        """Return the tools that the model may call by itself in a request; none without extensions."""
        return None

    def _take_request(self) -> AgentRequest:
        settings = Settings(parent=self.settings)
        requester = self.runtime.limit(self.requester, self.name, settings)
        if requester is not self.requester:
            settings.set(REQUESTER, requester)
        prompt = Prompt(settings=settings)
        for slot, value in self._pending.take().prompt.get().items():
            prompt[slot] = value
        return AgentRequest(
            prompt=prompt,
            settings=settings,
            requester=requester,
            handlers=self.extension_handlers,
            native=self.get_native_tools(settings),
        )

    def __reduce_ex__(self, protocol: object) -> Any:
        """Refuse to be pickled or copied: connections, tools and handlers belong to one process."""
        raise TypeError(
            f"Cannot pickle or copy agent {self.name!r}: its connections and tools belong to this process. "
            "Create the agent inside the worker process, or use threads."
        )

    def _export(self) -> dict[str, Any]:
        return to_configuration(self.agent_prompt, self.request_prompt)


def list_messages(history: Any) -> list[Any]:
    """Return the messages of a history that is one message, several, or none; text is a user message.

    Raises:
        SignatureError: a message is of another shape.
    """
    if history is None:
        return []
    if isinstance(history, str) or is_mapping(history) or not hasattr(history, "__iter__"):
        return [history]
    messages = list(history)
    for message in messages:
        if is_list(message) or is_tuple(message):
            raise SignatureError(
                "A message of a history must be a text or a mapping such as "
                f"{{'role': 'user', 'content': 'Hi.'}}, got {message!r}."
            )
    return messages


def _save(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
