"""Agents as data and as tools: definitions, files, registry, executor, wrapper."""

from typing import TYPE_CHECKING

from dovetail.lazy import lazy_exports

if TYPE_CHECKING:
    from dovetail.subagents.definition import (
        AgentDefinition,
        AgentInputs,
        InputConfig,
        ModelConfig,
        OutputConfig,
        PromptConfig,
        RunConfig,
        ToolConfig,
    )
    from dovetail.subagents.executor import AgentExecutor, AgentOutput
    from dovetail.subagents.registry import AgentRegistry
    from dovetail.subagents.schema import convert_input_config_to_json_schema
    from dovetail.subagents.wrapper import SubagentInvocation, SubagentToolWrapper

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
        "AgentDefinition": "dovetail.subagents.definition",
        "AgentExecutor": "dovetail.subagents.executor",
        "AgentInputs": "dovetail.subagents.definition",
        "AgentOutput": "dovetail.subagents.executor",
        "AgentRegistry": "dovetail.subagents.registry",
        "InputConfig": "dovetail.subagents.definition",
        "ModelConfig": "dovetail.subagents.definition",
        "OutputConfig": "dovetail.subagents.definition",
        "PromptConfig": "dovetail.subagents.definition",
        "RunConfig": "dovetail.subagents.definition",
        "SubagentInvocation": "dovetail.subagents.wrapper",
        "SubagentToolWrapper": "dovetail.subagents.wrapper",
        "ToolConfig": "dovetail.subagents.definition",
        "convert_input_config_to_json_schema": "dovetail.subagents.schema",
    },
)
