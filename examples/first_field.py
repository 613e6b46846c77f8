"""Act on the first field of an answer while the model is still writing the rest."""

import asyncio

from dovetail import Agent


async def order(material: str) -> None:
    """A stand-in for slow work: a search, an order, a call to another service."""
    await asyncio.sleep(0.1)
    print(f"   [ordered: {material}]")


async def main() -> None:
    """Order each material as soon as it arrives, and print the instructions as they are written."""
    agent = Agent()
    agent.input("I want to build a small shelf.")
    agent.output({"materials": [(str, "one thing to buy")], "instructions": (str, "in a few sentences")})
    async with asyncio.TaskGroup() as orders:
        async for event in agent.async_get_generator("instant"):
            if event.wildcard_path == "materials[*]" and event.is_complete:
                print(f"-> {event.value}")
                orders.create_task(order(event.value))
            elif event.path == "instructions":
                print(event.delta, end="\n" if event.is_complete else "", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
