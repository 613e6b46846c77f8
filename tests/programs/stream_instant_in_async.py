# The same in a coroutine, with slashes in the paths.
# replies: [{"json": {"rows": [{"id": 1}, {"id": 2}]}, "cut": 3}]
import asyncio

from dovetail import Agent


async def main():
    agent = Agent().set_settings("response.streaming_parse_path_style", "slash")
    agent.input("Rows").output({"rows": [{"id": (int,)}]})
    async for event in agent.async_get_generator(type="instant"):
        if event.is_complete:
            print(event.path, event.value)


asyncio.run(main())

# Output:
# /rows/[0]/id 1
# /rows/[0] {'id': 1}
# /rows/[1]/id 2
# /rows/[1] {'id': 2}
# /rows [{'id': 1}, {'id': 2}]
