"""Answers of MCP servers over HTTP, within a limit: the package reads each whole before it looks at it."""

import functools
import logging
from collections.abc import AsyncIterator
from typing import Any

from dovetail.lazy import lazy

httpx2 = lazy("httpx2", extra="mcp")

logger = logging.getLogger(__name__)

MOST_BYTES = 20_000_000
"""Of one answer, or of one event of a stream."""


async def limit_answer(response: Any) -> None:
    """A hook of the HTTP client: have an answer end with an error where it becomes too large.

    Compressed answers are refused: they were not asked for, and a small one may unpack to any size.
    """
    if response.headers.get("content-encoding", "identity") != "identity":
        logger.warning("an answer of an MCP server was given up: it is compressed")
        raise httpx2.DecodingError(
            "the answer is compressed, which was not asked for", request=response.request
        )
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    response.stream = _get_stream_class()(response.stream, is_stream)


async def _read(stream: Any) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in stream.inner:
        size += len(chunk)
        if stream.is_stream and (b"\n\n" in chunk or b"\r\n\r\n" in chunk or b"\r\r" in chunk):
            size = 0
        if size > MOST_BYTES:
            logger.warning("an answer of an MCP server was given up: it has more than %d bytes", MOST_BYTES)
            raise httpx2.ReadError(f"the answer has more than {MOST_BYTES} bytes")
        yield chunk


async def _close(stream: Any) -> None:
    await stream.inner.aclose()


def _keep(stream: Any, inner: Any, is_stream: bool) -> None:
    stream.inner, stream.is_stream = inner, is_stream


@functools.cache
def _get_stream_class() -> Any:
    """A stream as the package wants it; made at the first use because importing it takes time."""
    return type(
        "LimitedStream", (httpx2.AsyncByteStream,), {"__init__": _keep, "__aiter__": _read, "aclose": _close}
    )
