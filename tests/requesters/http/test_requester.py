"""What every protocol gets from the requester: the name, the options and the wish for thinking."""

from collections.abc import Mapping, Set
from typing import Any

import pytest

from dovetail.errors import ConfigError
from dovetail.events.call import ModelRequest
from dovetail.requesters.http.endpoint import Endpoint
from dovetail.requesters.http.requester import HttpRequester
from dovetail.requesters.openai.requester import ChatCompletions
from dovetail.settings.model import Thinking
from dovetail.testing import ScriptedServer


class Recorded(ChatCompletions):
    """Chat completions that remember the requests."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.seen: list[ModelRequest] = []

    def build_body(self, request: ModelRequest, without: Set[str]) -> dict[str, Any]:
        self.seen.append(request)
        return super().build_body(request, without)


async def ask(thinking: Thinking | None, options: Mapping[str, Any]) -> ModelRequest:
    async with ScriptedServer(["Hello"]) as server:
        protocol = Recorded(Endpoint(model="m", base_url=server.url, thinking=thinking))
        requester = HttpRequester(protocol)
        request = ModelRequest(messages=[{"role": "user", "content": "Hi"}], options=options)
        async for _ in requester.stream(request):
            pass
        await requester.close()
        return protocol.seen[0]


@pytest.mark.parametrize(
    ("thinking", "options", "wanted", "left"),
    [
        (None, {}, None, {}),
        ("low", {"seed": 1}, "low", {"seed": 1}),
        ("low", {"thinking": "high"}, "high", {}),
        ("low", {"thinking": False}, "off", {}),
        (None, {"thinking": 2048}, 2048, {}),
        (None, {"thinking": {"type": "enabled"}}, None, {"thinking": {"type": "enabled"}}),
    ],
)
async def test_an_option_of_the_request_says_how_long_to_think(
    thinking: Thinking | None, options: Mapping[str, Any], wanted: Any, left: Mapping[str, Any]
) -> None:
    seen = await ask(thinking, options)
    assert seen.thinking == wanted
    assert seen.options == left


async def test_an_unknown_level_of_thinking_is_an_error_that_lists_the_levels() -> None:
    with pytest.raises(ConfigError, match="off, low, medium, high"):
        await ask(None, {"thinking": "deep"})
