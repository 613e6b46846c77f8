"""An agent as data: what it takes, what it hands in, how it is prompted, limited and equipped."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dovetail.messages.budget import BudgetLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class InputConfig:
    """What an agent takes: `inputs` in document 003's short form, or a whole JSON Schema in `schema`.

    An input is `{"description", "type", "required"}`; `type` is one of string, number, integer, boolean,
    string[], number[].
    """

    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputConfig:
    """What an agent hands in: the name and JSON Schema of its one result."""

    output_name: str = "result"
    description: str = "The result of the task."
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptConfig:
    """How an agent is prompted; all texts are templates with `${name}` (`$${` for a plain `${`)."""

    system_prompt: str = ""
    query: str = ""
    initial_messages: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """Which model an agent uses; None is the app's own."""

    model: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """The limits of one run of an agent."""

    max_turns: int | None = 30
    max_seconds: float | None = 600.0
    max_tokens: int | None = None

    @property
    def limits(self) -> BudgetLimits:
        """The same as a budget's limits."""
        return BudgetLimits(turns=self.max_turns, seconds=self.max_seconds, tokens=self.max_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConfig:
    """Which tools an agent may use: names or globs; None means all its caller may use."""

    tools: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition:
    """An agent, defined once, callable by every other agent like any tool (unless `is_tool` is off)."""

    name: str
    description: str
    display_name: str = ""
    input_config: InputConfig = field(default_factory=InputConfig)
    output_config: OutputConfig | None = None
    prompt_config: PromptConfig = field(default_factory=PromptConfig)
    model_config: ModelConfig = field(default_factory=ModelConfig)
    run_config: RunConfig = field(default_factory=RunConfig)
    tool_config: ToolConfig = field(default_factory=ToolConfig)
    is_tool: bool = True
    source: str = "code"
