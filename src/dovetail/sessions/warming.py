"""Lets an embedded model read what every chat begins with before the first question comes.

Prompt and tools are most of what a small machine has to read; what was read once is not read again.
"""

import logging
from contextlib import aclosing

from dovetail.errors import DovetailError
from dovetail.messages.request import ModelRequest
from dovetail.subagents.equip import choose_tools
from dovetail.subagents.host import AgentHost

logger = logging.getLogger(__name__)


async def warm_up(host: AgentHost, agent: str = "master") -> None:
    """Read the beginning of a chat with `agent`; only for embedded models, and never an error."""
    try:
        definition = host.get_agent_registry().get_definition(agent)
        requester = host.runtime.requester(definition.model_config.model)
        if not requester.model.startswith("local:"):
            return
        tools, _ = choose_tools(definition, host.get_tool_registry().snapshot(), ())
        system = {"role": "system", "content": definition.prompt_config.system_prompt}
        request = ModelRequest(messages=[system, {"role": "user", "content": "Hello"}], tools=tools.specs)
        async with aclosing(requester.stream(request)) as deltas:
            await anext(deltas, None)
    except DovetailError as error:
        logger.info("the model was not warmed up: %s", error)
