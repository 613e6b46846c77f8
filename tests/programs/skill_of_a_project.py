# A skill in a folder of the project is loaded by the model when it needs it.
# replies: [
#   {"tool_calls": [{"name": "load_skill", "arguments": {"name": "haiku"}}]},
#   {"when": "Never rhyme", "text": "Oak under the rain."}
# ]
import asyncio
from pathlib import Path

from dovetail import AgentDefinition, Dovetail
from dovetail.agents import AgentExecutor

folder = Path("skills/haiku")
folder.mkdir(parents=True)
(folder / "SKILL.md").write_text("---\nname: haiku\ndescription: Write a haiku.\n---\nNever rhyme.\n")


async def main() -> None:
    async with Dovetail(workspace=".") as app:
        poet = AgentDefinition(name="poet", description="Writes.")
        result = await (await AgentExecutor.create(poet, app)).run({"query": "A haiku about oak."})
        print(result.text)


asyncio.run(main())

# Output:
# Oak under the rain.
