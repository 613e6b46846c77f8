"""`BaseAgent`: a prompt that stays, requests that come and go, and every view of their answers."""

from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from typing import Any, Self, Unpack

from dovetail.agent.expectation import expect_output
from dovetail.agent.handlers import ExtensionHandlers
from dovetail.agent.pending import PendingRequests
from dovetail.agent.request import AgentRequest
from dovetail.agent.runtime import Runtime, default_runtime
from dovetail.agent.shorthands import PromptShorthands
from dovetail.prompt.prompt import Prompt
from dovetail.requesters.requester import Requester
from dovetail.response.answer import Answer, DataType, Demands, GeneratorType
from dovetail.response.response import Response
from dovetail.response.result import Result
from dovetail.settings import Settings


class BaseAgent(PromptShorthands, Answer[Any]):
    """An agent without extensions: fill the prompt, then ask for the answer in the form you need.

    The agent's own prompt goes into every request; what is said without `always` goes into the next one
    alone. Tasks and threads that use one agent at the same time do not see each other's requests.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        model: Any = None,
        settings: Settings | Mapping[str, Any] | None = None,
        requester: Requester | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        self.name = name or "agent"
        self.runtime = runtime or default_runtime()
        self.settings = _layer(settings, self.runtime.settings)
        self.agent_prompt = Prompt(settings=self.settings)
        self.extension_handlers = ExtensionHandlers()
        self._model = model
        self._requester = requester
        self._pending = PendingRequests(self.agent_prompt)

    @property
    def request_prompt(self) -> Prompt:
        """What the next request says beside the agent's own prompt."""
        return self._pending.get()

    @property
    def requester(self) -> Requester:
        """The model that answers, found when it is first needed."""
        if self._requester is None:
            self._requester = self.runtime.requester(self._model, self.settings)
        return self._requester

    def set_settings(self, key: str, value: Any) -> Self:
        """Set a setting for this agent alone."""
        self.settings.set(key, value)
        return self

    def get_response(self, *, timeout: float | None = None) -> Response[Any]:
        """The response to what was written; the next request begins empty.

        It is sent when it is first read. `timeout` is in seconds, for the whole answer.
        """
        settings = Settings(parent=self.settings)
        prompt = Prompt(self._pending.take().get(), settings=settings)
        requester = self.requester
        expected = expect_output(prompt, settings, with_schema=requester.follows_schema)
        request = AgentRequest(
            prompt=prompt,
            settings=settings,
            requester=requester,
            handlers=self.extension_handlers,
            shape=expected.shape,
            schema=expected.schema,
        )
        return request.open(timeout)

    async def async_get_result(self, *, check: bool = False, **demands: Unpack[Demands]) -> Result[Any]:
        """The whole answer; with `check` it must also make a valid object."""
        return await self.get_response().async_get_result(check=check, **demands)

    async def async_start(self, type: DataType = "parsed", **demands: Unpack[Demands]) -> Any:
        """Send the request and give its data: the parsed output, or the text if none was asked for."""
        return await self.get_response().async_get_data(type, **demands)

    def start(self, type: DataType = "parsed", **demands: Unpack[Demands]) -> Any:
        """Send the request and give its data: the parsed output, or the text if none was asked for."""
        return self.get_response().get_data(type, **demands)

    def get_prompt_text(self) -> str:
        """The request as it stands, as one text."""
        return self.request_prompt.to_text()

    def get_json_prompt(self) -> str:
        """The request as it stands, as JSON that `load_json_prompt` reads again."""
        return self.request_prompt.to_json_prompt(inherit=True)

    def get_yaml_prompt(self) -> str:
        """The request as it stands, as YAML that `load_yaml_prompt` reads again."""
        return self.request_prompt.to_yaml_prompt(inherit=True)

    def _get_prompt(self, always: bool) -> Prompt:
        return self.agent_prompt if always else self._pending.get()

    def _open(self) -> Response[Any]:
        return self.get_response()

    def stream(
        self, type: GeneratorType, specific: Collection[str] | str | None
    ) -> AsyncGenerator[Any, None]:
        return _read_alone(self.get_response(), type, specific)


async def _read_alone(
    response: Response[Any], type: GeneratorType, specific: Collection[str] | str | None
) -> AsyncGenerator[Any, None]:
    """Nobody else knows this response, so who leaves it early stops it."""
    try:
        async with aclosing(response.stream(type, specific)) as items:
            async for item in items:
                yield item
    finally:
        response.cancel()


def _layer(settings: Settings | Mapping[str, Any] | None, parent: Settings) -> Settings:
    if isinstance(settings, Settings):
        return Settings(parent=settings)
    return Settings(settings, parent=parent)
