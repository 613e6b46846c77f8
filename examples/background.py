"""Start an agent in the background of a chat: its caller answers at once, and its end is a notice.

The model has to call the agent, which needs one that uses tools well; the smallest embedded one may not.
"""

import asyncio

from dovetail import AgentDefinition, Dovetail, InputConfig
from dovetail.agents import PromptConfig, ToolConfig
from dovetail.ids import new_id
from dovetail.sessions.request import ChatRequest

RESEARCHER = AgentDefinition(
    name="researcher",
    description="Researches a question thoroughly; takes a while.",
    input_config=InputConfig(inputs={"question": {"type": "string", "required": True}}),
    prompt_config=PromptConfig(
        system_prompt="You research questions. Answer in two sentences.", query="${question}"
    ),
    tool_config=ToolConfig(tools=[]),
    background=True,
)


async def ask(app: Dovetail, text: str, session_id: str) -> str:
    """Send a message to a session and return its answer."""
    started = await app.chat.send(ChatRequest(parts=[{"type": "text", "text": text}], session_id=session_id))
    return (await started.handle.result()).text


async def main() -> None:
    """Have a question researched in the background, and read about its end."""
    app = Dovetail(settings={"tools": {"allowed": ["researcher"]}})
    app.agents.register_agent(RESEARCHER)
    async with app:
        await app.open_chat()
        session_id = new_id("ses")
        print(await ask(app, "Have the researcher find out how many years an oak lives.", session_id))
        tasks = await app.sessions.list_tasks(session_id)
        if not tasks:
            print("The model did not call the researcher; try another model.")
        for task in tasks:
            result = await app.runs.result(task.run_id)
            print(f"{task.agent} ended: {result.reason}")
        print(await ask(app, "What did it find?", session_id))


if __name__ == "__main__":
    asyncio.run(main())
