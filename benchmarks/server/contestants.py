"""Commands that start each server, and the request that a user sends to it."""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, find_peer
from benchmarks.server.process import Server, find_port, start_server

SERVERS = "benchmarks.server.servers"
_QUESTION = "Say words."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contestant:
    """A server: `module` runs in our own environment, or in a virtual environment with `requirements`.

    `workers` are the options of a server that starts several processes on one port by itself; other servers
    are started several times, each on its own port.
    """

    name: str
    module: str
    path: str
    body: Mapping[str, Any]
    requirements: Sequence[str] = ()
    options: Sequence[str] = ()
    workers: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])

    @contextmanager
    def start(self, upstream: str, workers: int = 1, database: str = "") -> Iterator[list[Server]]:
        """Run it with that many processes."""
        python = find_peer(self.name, self.requirements) if self.requirements else Path(sys.executable)
        paths = [str(ROOT)] if self.requirements else [str(ROOT), str(ROOT / "src")]
        environment = {"PYTHONPATH": os.pathsep.join(paths), **self.environment}
        if database:
            environment["DATABASE_URL"] = database
        options = [*self.options, *self.workers] if workers > 1 else self.options
        with ExitStack() as stack:
            started: list[Server] = []
            for _ in range(1 if self.workers else workers):
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dovetail-bench-"))
                for name, text in self.files.items():
                    Path(folder, name).write_text(text)
                port = find_port()
                values = {
                    "upstream": upstream,
                    "port": str(port),
                    "folder": folder,
                    "workers": str(workers),
                }
                variables = {name: value.format(**values) for name, value in environment.items()}
                command = [python, "-m", self.module, *(option.format(**values) for option in options)]
                started.append(stack.enter_context(start_server(command, port, variables, Path(folder))))
            yield started


RELAY = Contestant(
    name="relay", module=f"{SERVERS}.relay", path="/", body={}, options=["{upstream}", "{port}"]
)
DOVETAIL = Contestant(
    name="dovetail",
    module="dovetail",
    path="/api/v1/chat",
    body={"message": _QUESTION},
    options=["serve", "--port", "{port}", "--workspace", "{folder}"],
    workers=["--workers", "{workers}"],
    environment={
        "DOVETAIL_MODEL": "openai:scripted",
        "DOVETAIL_BASE_URL": "{upstream}",
        "DOVETAIL_API_KEY": "none",
        "DOVETAIL_RATE_LIMIT": "0",
    },
)
_MESSAGE = {"id": "m", "role": "user", "parts": [{"type": "text", "text": _QUESTION}]}
PEERS = (
    Contestant(
        name="pydantic-ai-server",
        module=f"{SERVERS}.pydantic_ai_server",
        path="/",
        body={"id": "s", "trigger": "submit-message", "messages": [_MESSAGE]},
        options=["{upstream}", "{port}"],
        requirements=["pydantic-ai-slim[openai]==2.66.0", "starlette", "uvicorn"],
    ),
    Contestant(
        name="openai-agents-server",
        module=f"{SERVERS}.openai_agents_server",
        path="/",
        body={"message": _QUESTION},
        options=["{upstream}", "{port}"],
        requirements=["openai-agents==0.24.0", "fastapi", "uvicorn"],
    ),
    Contestant(
        name="langgraph-server",
        module="langgraph_cli",
        path="/runs/stream",
        body={
            "assistant_id": "agent",
            "input": {"messages": [{"role": "user", "content": _QUESTION}]},
            "stream_mode": ["messages-tuple"],
        },
        options=[
            "dev",
            "--no-browser",
            "--no-reload",
            "--port={port}",
            "--n-jobs-per-worker=1000",
            "--server-log-level=ERROR",
            f"--config={ROOT}/benchmarks/server/servers/langgraph.json",
        ],
        environment={
            "UPSTREAM": "{upstream}",
            "LANGSMITH_TRACING": "false",
            "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        },
        requirements=["langgraph-cli[inmem]", "langchain-openai==1.7.3", "langchain"],
    ),
)
