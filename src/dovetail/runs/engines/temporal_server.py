"""The Temporal server as an engine uses it: connect, register what operators search by, start and signal."""

import asyncio
import hashlib
import logging
from datetime import timedelta
from functools import cache
from typing import Self

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.common import (
    Priority,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
)
from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.service import GrpcCompression, RetryConfig, RPCError, RPCStatusCode

from dovetail.errors import ConfigError, StoreError
from dovetail.runs.engine import Ticket
from dovetail.runs.engines.temporal_workflow import WORKFLOW, Job
from dovetail.settings.sections import RunSettings

logger = logging.getLogger(__name__)
CONNECT_SECONDS = 5.0
CALL_SECONDS = 10.0
RETRY_SECONDS = 2.0
_MIDDLE_PRIORITY = 3
_LOWEST_PRIORITY = 5
_LONGEST_FAIRNESS_KEY = 64
_SESSION = SearchAttributeKey.for_keyword("DovetailSession")
_OWNER = SearchAttributeKey.for_keyword("DovetailOwner")
_AGENT = SearchAttributeKey.for_keyword("DovetailAgent")


@cache
def _get_runtime() -> Runtime:
    """Return the runtime of this process; its warnings repeat for each call while the server is away."""
    quiet = TelemetryFilter(core_level="ERROR", other_level="ERROR")
    return Runtime(telemetry=TelemetryConfig(logging=LoggingConfig(filter=quiet)))


def name_task_queue(queue: str) -> str:
    """Return the name of Temporal's task queue for one of our queues."""
    return f"dovetail-{queue}"


class TemporalServer:
    """A connection to a namespace of a Temporal server."""

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        self.address = address
        self._has_warned = False

    @classmethod
    async def connect(cls, settings: RunSettings) -> Self:
        """Connect, and register the search attributes.

        Raises:
            ConfigError: the server or its namespace cannot be reached.
        """
        address, namespace = settings.temporal_address, settings.temporal_namespace
        try:
            client = await Client.connect(
                address,
                namespace=namespace,
                api_key=settings.temporal_api_key,
                tls=settings.temporal_api_key is not None,
                connect_timeout=timedelta(seconds=CONNECT_SECONDS),
                retry_config=RetryConfig(max_elapsed_time_millis=int(RETRY_SECONDS * 1000)),
                runtime=_get_runtime(),
                grpc_compression=GrpcCompression.NONE,  # it takes longer than it saves: messages are short
            )
            await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=namespace))
        except (RuntimeError, ValueError, RPCError) as error:
            raise _explain(error, address, namespace) from error
        server = cls(client, address)
        await server._register()
        return server

    async def send(self, ticket: Ticket, reason: str | None, *, eager: bool = False) -> None:
        """Start the workflow of the run; signal it, too, if there is a reason and it may exist already.

        A workflow that is gone, such as one that an operator has terminated, is started again. With `eager`,
        a worker of this process may begin without the way through the queue.

        Raises:
            StoreError: the server cannot be reached at the moment.
        """
        try:
            async with asyncio.timeout(CALL_SECONDS):
                await self._start_described(ticket, reason, eager)
        except (RPCError, TimeoutError) as error:
            problem = error.message if isinstance(error, RPCError) else "it does not answer"
            raise StoreError(f"Temporal at {self.address} cannot start workflows: {problem}.") from error

    async def _start_described(self, ticket: Ticket, reason: str | None, eager: bool) -> None:
        try:
            await self._start(ticket, reason, eager, _describe(ticket))
        except RPCError as error:
            if error.status != RPCStatusCode.INVALID_ARGUMENT or "search attribute" not in error.message:
                raise
            self._warn(error)
            await self._start(ticket, reason, eager, TypedSearchAttributes.empty)

    async def _start(
        self, ticket: Ticket, reason: str | None, eager: bool, attributes: TypedSearchAttributes
    ) -> None:
        signal = reason if ticket.attempt else None
        await self.client.start_workflow(
            WORKFLOW,
            Job(run_id=ticket.run_id, attempt=ticket.attempt),
            id=ticket.run_id,
            task_queue=name_task_queue(ticket.queue),
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            start_signal=signal,
            start_signal_args=[ticket.attempt] if signal else [],
            search_attributes=attributes,
            memo={"session": ticket.session_id, "owner": ticket.owner, "agent": ticket.agent},
            static_summary=f"{ticket.agent} for {ticket.owner}",
            priority=_rank(ticket),
            request_eager_start=eager and signal is None,
        )

    async def _register(self) -> None:
        keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
        request = AddSearchAttributesRequest(
            namespace=self.client.namespace,
            search_attributes={key.name: keyword for key in (_SESSION, _OWNER, _AGENT)},
        )
        try:
            await self.client.operator_service.add_search_attributes(request)
        except RPCError as error:  # an operator may have added them; if not, the first start warns
            logger.debug("Temporal at %s adds no search attributes: %s", self.address, error.message)

    def _warn(self, error: RPCError) -> None:
        if not self._has_warned:
            self._has_warned = True
            names = ", ".join(key.name for key in (_SESSION, _OWNER, _AGENT))
            logger.warning(
                "Temporal at %s does not know the search attributes of runs (%s). Add %s as Keyword to find "
                "workflows by them; until then, they are in the memo of each workflow.",
                self.address,
                error.message,
                names,
            )


def _describe(ticket: Ticket) -> TypedSearchAttributes:
    pairs = [SearchAttributePair(_OWNER, ticket.owner), SearchAttributePair(_AGENT, ticket.agent)]
    if ticket.session_id is not None:
        pairs.append(SearchAttributePair(_SESSION, ticket.session_id))
    return TypedSearchAttributes(pairs)


def _rank(ticket: Ticket) -> Priority:
    """Return Temporal's priority, whose lowest number is first, and the owner for turns between owners."""
    key = min(_LOWEST_PRIORITY, max(1, _MIDDLE_PRIORITY - ticket.priority))
    owner = ticket.owner
    if len(owner.encode()) > _LONGEST_FAIRNESS_KEY:
        owner = hashlib.sha256(owner.encode()).hexdigest()
    return Priority(priority_key=key, fairness_key=owner)


def _explain(error: Exception, address: str, namespace: str) -> ConfigError:
    if isinstance(error, RPCError) and error.status == RPCStatusCode.NOT_FOUND:
        return ConfigError(
            f"Temporal at {address} has no namespace {namespace!r}.",
            hint="Create it (`temporal operator namespace create`), or change `runs.temporal_namespace`.",
        )
    if isinstance(error, RPCError) and error.status in _REFUSALS:
        return ConfigError(
            f"Temporal at {address} refuses the namespace {namespace!r}: {error.message}.",
            hint="Check `runs.temporal_api_key`.",
        )
    return ConfigError(
        f"Cannot reach Temporal at {address}.",
        hint="Start the server, or change `runs.temporal_address`.",
    )


_REFUSALS = (RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.PERMISSION_DENIED)
