"""Spans of agents and their requests, named after OpenTelemetry's conventions for generative AI."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, aclosing
from typing import Any
from urllib.parse import urlsplit

from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, FinishDelta, ProgressDelta, Usage
from dovetail.requesters.border import clean_deltas
from dovetail.requesters.requester import Requester
from dovetail.tracing import record, span


async def stream_traced(requester: Requester, request: ModelRequest) -> AsyncGenerator[Delta, None]:
    """Stream the answer's clean deltas under a span of the request, without what comes before it."""
    with request_span(requester) as opened:
        async with aclosing(clean_deltas(requester.stream(request), request.sizes)) as deltas:
            async for delta in deltas:
                if isinstance(delta, FinishDelta):
                    record(opened, describe_finish(delta))
                if not isinstance(delta, ProgressDelta):
                    yield delta


def request_span(requester: Requester) -> AbstractContextManager[Any]:
    """Open a span around one request to a model."""
    attributes = {
        "gen_ai.operation.name": "chat",
        **_describe_model(requester.model),
        **_describe_server(requester),
    }
    return span(f"chat {attributes['gen_ai.request.model']}", attributes, kind="CLIENT")


def agent_span(path: Sequence[str], model: str, session_id: str | None) -> AbstractContextManager[Any]:
    """Open a span around one run of the agent at the end of `path`."""
    agent = path[-1] if path else ""
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent or None,
        "gen_ai.conversation.id": session_id,
        **_describe_model(model),
    }
    return span(f"invoke_agent {agent}".rstrip(), attributes)


def describe_finish(finish: FinishDelta) -> dict[str, Any]:
    """Return the span attributes at the end of a request."""
    return {
        "gen_ai.response.model": finish.model or None,
        "gen_ai.response.finish_reasons": (finish.reason,),
        "gen_ai.response.id": finish.request_id,
        **describe_usage(finish.usage),
    }


def describe_usage(usage: Usage) -> dict[str, Any]:
    """Return the span attributes for the tokens of a request or a run."""
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens or None,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens or None,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens or None,
        "dovetail.usage.cost": usage.cost,
    }


def _describe_server(requester: Requester) -> dict[str, Any]:
    """Return the address of the model's server; nothing for a model in this process."""
    endpoint: Any = getattr(requester, "endpoint", None)
    if endpoint is None:
        return {}
    address: str = endpoint.base_url
    server = urlsplit(address)
    port = server.port or {"http": 80, "https": 443}.get(server.scheme)
    return {"server.address": server.hostname, "server.port": port}


def _describe_model(model: str) -> dict[str, str]:
    provider, _, name = model.partition(":")
    return {"gen_ai.provider.name": provider, "gen_ai.request.model": name or model}
