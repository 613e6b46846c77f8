"""Start an agent in the background of a chat: its caller answers at once, and its end is a notice."""

import asyncio

from dovetail import AgentDefinition, Dovetail, InputConfig
from dovetail.agents import PromptConfig, ToolConfig
from dovetail.sessions.request import ChatRequest

RESEARCHER = AgentDefinition(
    name="researcher",
    description="Researches a question thoroughly; takes a while.",
    input_config=InputConfig(inputs={"question": {"type": "string", "required": True}}),
    prompt_config=PromptConfig(system_prompt="You research questions.", query="${question}"),
    tool_config=ToolConfig(tools=[]),
    background=True,
)


async def ask(app: Dovetail, text: str) -> str:
    """Send a message to the session and return its answer."""
    started = await app.chat.send(ChatRequest(parts=[{"type": "text", "text": text}], session_id="demo"))
    return (await started.handle.result()).text


async def main() -> None:
    """Have a question researched in the background, and read about its end."""
    app = Dovetail()
    app.agents.register_agent(RESEARCHER)
    async with app:
        await app.open_chat()
        print(await ask(app, "Have the researcher find out how old oaks become."))
        [task] = await app.sessions.list_tasks("demo")
        async with await app.runs.read(task.run_id) as reader:
            while not reader.ended:
                await reader.next()
        [task] = await app.sessions.list_tasks("demo")
        print(f"{task.agent} {task.state}: {task.reason}")
        print(await ask(app, "What did it find?"))


if __name__ == "__main__":
    asyncio.run(main())
