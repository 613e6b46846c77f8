# One response, read by several tasks and in several forms; it is sent once.
# replies: [{"text": "{\"name\": \"oak\"}", "cut": 3}]
import asyncio

from dovetail import Agent


async def main():
    response = Agent().input("A wood?").output({"name": (str, "a wood")}).get_response()

    async def read():
        return "".join([piece async for piece in response.async_get_generator("delta")])

    texts = await asyncio.gather(read(), read(), response.async_get_text())
    print(set(texts), await response.async_get_data())


asyncio.run(main())

# Output:
# {'{"name": "oak"}'} {'name': 'oak'}
