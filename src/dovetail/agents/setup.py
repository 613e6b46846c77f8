"""What a run of an agent begins with and keeps: its first messages, model, options and tools.

Promise: a run that resumes after a restart has the same first messages, model and options as before, and no
further tools, whatever was edited since. Code cannot be kept: a tool that is gone stays gone, and one with
new parameters has those. The run reports that to its model and to the log.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from dovetail.agent.runtime import Runtime
from dovetail.agents.definition import AgentDefinition, OutputConfig
from dovetail.errors import DovetailError
from dovetail.events.call import ChatMessage
from dovetail.loop.loop import TurnLoop
from dovetail.requesters.requester import Requester
from dovetail.tools.snapshot import ToolSnapshot

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """The beginning of a run as data; `tools` are names, each with a digest of its parameters."""

    messages: Sequence[ChatMessage]
    model: str
    options: Mapping[str, Any]
    tools: Sequence[Sequence[str]]
    output: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, loop: TurnLoop, definition: AgentDefinition, messages: Sequence[ChatMessage]) -> Self:
        """Return the setup of a run of `loop` whose conversation begins with `messages`."""
        output = definition.output_config
        return cls(
            messages=messages,
            model=loop.requester.model,
            options=loop.options,
            tools=[(name, _digest(tool.parameters)) for name, tool in loop.tools.tools.items()],
            output=None if output is None else asdict(output),
        )

    @classmethod
    def read(cls, data: Mapping[str, Any] | None) -> Self | None:
        """Return the setup that `to_dict` has written; None for a run of an earlier version."""
        return None if data is None else cls(**data)

    def to_dict(self) -> dict[str, Any]:
        """Return the setup as JSON data."""
        return {
            "messages": [dict(message) for message in self.messages],
            "model": self.model,
            "options": dict(self.options),
            "tools": [list(tool) for tool in self.tools],
            "output": None if self.output is None else dict(self.output),
        }

    def adapt(self, definition: AgentDefinition) -> AgentDefinition:
        """Return the agent with the output and the options of this setup."""
        output = None if self.output is None else OutputConfig(**self.output)
        model = replace(definition.model_config, options=self.options)
        return replace(definition, output_config=output, model_config=model)

    def select(self, tools: ToolSnapshot) -> ToolSnapshot:
        """Return the tools of this setup that still exist, in its order."""
        kept = (tools.get(name) for name, _ in self.tools)
        return ToolSnapshot.of((tool for tool in kept if tool is not None), tools.generation)

    def list_changes(self, loop: TurnLoop) -> str:
        """Return what of this setup `loop` could not keep, as the model reads it; empty if nothing."""
        digests = {name: _digest(tool.parameters) for name, tool in loop.tools.tools.items()}
        gone = [f"`{name}`" for name, _ in self.tools if name not in digests]
        changed = [f"`{name}`" for name, digest in self.tools if digests.get(name, digest) != digest]
        model = loop.requester.model
        lines = [
            f"These tools are no longer available: {', '.join(gone)}." if gone else "",
            f"These tools have new parameters, see their definitions: {', '.join(changed)}."
            if changed
            else "",
            f"The model is now {model}; it was {self.model}." if model != self.model else "",
        ]
        told = [line for line in lines if line]
        return " ".join(["[The run resumed after a restart.", *told]) + "]" if told else ""


def find_requester(runtime: Runtime, model: Any, kept: RunSetup | None) -> Requester:
    """Return the requester of a model by name or object; a run that resumes has the one it `kept`."""
    if kept is None:
        return runtime.requester(model)
    try:
        chosen = runtime.requester(model)
    except DovetailError:
        return runtime.requester(kept.model)
    if chosen.model == kept.model:
        return chosen
    try:
        return runtime.requester(kept.model)
    except DovetailError:
        return chosen


def report_changes(kept: RunSetup | None, loop: TurnLoop, run_id: str | None) -> str:
    """Log what a run that resumes could not keep of its setup, and return it as the model reads it."""
    changes = "" if kept is None else kept.list_changes(loop)
    if changes:
        logger.warning("run %s: %s", run_id, changes)
    return changes


def _digest(parameters: Mapping[str, Any]) -> str:
    text = json.dumps(parameters, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
