"""Connections to MCP servers.

Each connection has one owner task, which opens and closes it; all others only use it. A lost connection is
noticed at once and reopened by the next call. A call that was in progress is repeated once if its tool is
idempotent; otherwise the model reads that its effect is unknown.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from dovetail.errors import ToolError
from dovetail.events.tool_context import ToolContext
from dovetail.lazy import lazy
from dovetail.tools.mcp.answers import list_all, read_mcp_result
from dovetail.tools.mcp.log import ServerLog
from dovetail.tools.mcp.login import Login
from dovetail.tools.mcp.server import McpServer
from dovetail.tools.mcp.transport import CONNECT_SECONDS, REASON, Transport, find_cause
from dovetail.tools.tool import ToolResult

mcp = lazy("mcp", extra="mcp")
mcp_subscriptions = lazy("mcp.client.subscriptions", extra="mcp")

logger = logging.getLogger(__name__)

T = TypeVar("T")

CHANGE_SECONDS = 1.0
"""The least number of seconds between two reads of a tool list that changes."""

_CLOSED = -32000
_REFUSED = "Session terminated"  # what the package says when a server does not know the session any more


class McpConnection:
    """A connection to one server; usable from any event loop, opened when first needed.

    `on_change` is called with the server's tool descriptions whenever it reports a change.
    """

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.log = ServerLog(server)
        self.login: Login | None = None
        self.connected_at: float | None = None
        self.wants_login = False
        self.on_change: Callable[[Sequence[Any]], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None
        self._opening: asyncio.Future[Any] | None = None
        self._lost = asyncio.Event()
        self._owners: set[asyncio.Task[None]] = set()
        self._fault: asyncio.Future[str] | None = None
        self._has_changed = False
        self._reporting: asyncio.Task[None] | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop of the connection, if it was ever opened."""
        return self._loop

    @property
    def is_open(self) -> bool:
        """Whether the server is connected; a lost connection is reopened by the next call."""
        return self._client is not None

    async def list_tools(self) -> list[Any]:
        """Return the descriptions of all tools of the server."""
        return await self._at_home(self._list_tools)

    async def call(
        self, name: str, args: dict[str, Any], context: ToolContext, *, idempotent: bool = False
    ) -> ToolResult:
        """Call a tool of the server.

        Raises:
            ToolError: the server cannot be reached, was lost during the call, or rejects it.
        """
        return await self._at_home(lambda: self._call(name, args, context, idempotent))

    async def close(self) -> None:
        """Close the connection; a later call reopens it."""
        if self._owners and self._loop is not None and not self._loop.is_closed():
            await self._at_home(self._close)

    async def _at_home(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do the work on the event loop of the owner task, which is that of the first caller."""
        here = asyncio.get_running_loop()
        if self._loop is None or self._loop.is_closed():
            self._loop, self._client, self._opening = here, None, None
            self._owners.clear()
        if self._loop is here:
            return await work()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), self._loop))

    async def _list_tools(self) -> list[Any]:
        return await self._list(await self._get_client())

    async def _list(self, client: Any) -> list[Any]:
        if self._fault is None or self._fault.done():
            self._fault = asyncio.get_running_loop().create_future()
        return await list_all(client, self.server.name, self._fault)

    async def _call(
        self, name: str, args: dict[str, Any], context: ToolContext, idempotent: bool
    ) -> ToolResult:
        async def show(progress: float, total: float | None, message: str | None) -> None:
            context.update({"progress": progress, "total": total, "message": message})

        may_repeat = True
        while True:
            client = await self._get_client()
            try:
                return read_mcp_result(await client.call_tool(name, args, progress_callback=show))
            except mcp.MCPError as error:
                is_refused = _REFUSED in str(error)
                if not is_refused and error.code != _CLOSED:
                    raise ToolError(f"{self.server.name}: {error}", type="mcp_error") from error
                self._drop(client)
                if not (may_repeat and (idempotent or is_refused)):
                    raise self._explain_loss(name) from error
                may_repeat = False

    def _explain_loss(self, name: str) -> ToolError:
        return ToolError(
            f"The connection to MCP server {self.server.name!r} was lost during {name!r}. "
            "It is unknown whether the call took effect: check before you repeat it.",
            type="mcp_connection_lost",
        )

    async def _get_client(self) -> Any:
        if self._client is not None:
            return self._client
        if self._opening is None or self._opening.done():
            self._opening = asyncio.get_running_loop().create_future()
            owner = asyncio.create_task(self._own(self._opening), name=f"mcp {self.server.name}")
            self._owners.add(owner)
            owner.add_done_callback(self._owners.discard)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.shield(self._opening)
        except (OSError, RuntimeError, TimeoutError) as error:
            reason = str(error) or f"no answer within {CONNECT_SECONDS:g} s"
            raise ToolError(
                f"MCP server {self.server.name!r} cannot be reached: {reason}", type="mcp_unreachable"
            ) from error

    async def _own(self, opening: "asyncio.Future[Any]") -> None:
        """Open, serve and close one connection; this happens here and nowhere else."""
        auth = self.login.make_auth() if self.login else None
        transport = Transport(self.server, self._note_fault, self.log, auth)
        self._lost = lost = transport.lost
        try:
            async with mcp.Client(transport.open(), message_handler=self._hear) as client:
                listener = asyncio.create_task(self._listen(client))
                self._client, self.connected_at, self.wants_login = client, time.time(), False
                opening.set_result(client)
                try:
                    await lost.wait()
                finally:
                    self._drop(client)
                    listener.cancel()
        except Exception as error:
            self.wants_login = transport.wants_login
            if not opening.done():
                _fail(opening, transport.explain(error))
            else:
                self.log.write(f"The connection was lost: {find_cause(error)}")
                logger.info("MCP server %r was lost: %s", self.server.name, find_cause(error))
        finally:
            if not opening.done():
                _fail(opening, "the connection was closed")

    def _drop(self, client: Any) -> None:
        if self._client is client:
            self._client = self._opening = self.connected_at = None
            self._lost.set()

    async def _close(self) -> None:
        self._lost.set()
        for owner in list(self._owners):
            if self._client is None:
                owner.cancel()
            await asyncio.wait([owner], timeout=CONNECT_SECONDS)

    def _note_fault(self) -> None:
        """End the connection: its caller would wait in vain for a message that the package drops."""
        logger.warning("MCP server %r sent a message that cannot be read", self.server.name)
        if self._fault is not None and not self._fault.done():
            self._fault.set_result(REASON)

    async def _hear(self, message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            await self._note_change()

    async def _listen(self, client: Any) -> None:
        """Subscribe to changes, which servers of the newer protocol require."""
        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    await self._note_change()
        except mcp_subscriptions.SubscriptionLost:
            self._drop(client)
        except Exception as error:
            logger.debug("MCP server %r does not report changes: %s", self.server.name, error)

    async def _note_change(self) -> None:
        self._has_changed = True
        if self._reporting is None or self._reporting.done():
            # Answers arrive through the task that hears the notice, so the list is asked for in another.
            self._reporting = asyncio.create_task(self._report_changes())
            self._owners.add(self._reporting)
            self._reporting.add_done_callback(self._owners.discard)

    async def _report_changes(self) -> None:
        """Report the tools once for all notices of a short while."""
        while self._has_changed and self._client is not None and self.on_change is not None:
            self._has_changed = False
            try:
                self.on_change(await self._list(self._client))
            except ToolError as error:
                logger.error("%s", error)
            except Exception:
                logger.exception("failed to load the changed tools of MCP server %r", self.server.name)
            await asyncio.sleep(CHANGE_SECONDS)


def _fail(opening: "asyncio.Future[Any]", reason: str) -> None:
    """End a failed opening; silently if its last caller has gone."""
    opening.set_exception(RuntimeError(reason))
    opening.exception()
