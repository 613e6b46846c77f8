"""Agents as data: definitions, files, the registry, and an agent as a tool of another one."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.agents.as_tool import SubagentInvocation, SubagentToolWrapper
    from dovetail.agents.definition import (
        AgentDefinition,
        AgentInputs,
        InputConfig,
        ModelConfig,
        OutputConfig,
        PromptConfig,
        RunConfig,
        ToolConfig,
        convert_input_config_to_json_schema,
    )
    from dovetail.agents.registry import AgentRegistry
    from dovetail.agents.run import AgentExecutor, AgentOutput

__all__ = [
    "AgentDefinition",
    "AgentExecutor",
    "AgentInputs",
    "AgentOutput",
    "AgentRegistry",
    "InputConfig",
    "ModelConfig",
    "OutputConfig",
    "PromptConfig",
    "RunConfig",
    "SubagentInvocation",
    "SubagentToolWrapper",
    "ToolConfig",
    "convert_input_config_to_json_schema",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "AgentDefinition": "dovetail.agents.definition",
        "AgentExecutor": "dovetail.agents.run",
        "AgentInputs": "dovetail.agents.definition",
        "AgentOutput": "dovetail.agents.run",
        "AgentRegistry": "dovetail.agents.registry",
        "InputConfig": "dovetail.agents.definition",
        "ModelConfig": "dovetail.agents.definition",
        "OutputConfig": "dovetail.agents.definition",
        "PromptConfig": "dovetail.agents.definition",
        "RunConfig": "dovetail.agents.definition",
        "SubagentInvocation": "dovetail.agents.as_tool",
        "SubagentToolWrapper": "dovetail.agents.as_tool",
        "ToolConfig": "dovetail.agents.definition",
        "convert_input_config_to_json_schema": "dovetail.agents.definition",
    },
    elsewhere={"Agent": "dovetail"},
)
