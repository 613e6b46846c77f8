# An event loop in a background thread gets coroutines from the main thread.
# replies: [{"when": "first", "text": "one"}, {"when": "second", "text": "two"}]
import asyncio
import threading

from dovetail import Agent

agent = Agent()
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()
jobs = [
    asyncio.run_coroutine_threadsafe(agent.input(question).async_start(), loop)
    for question in ("first", "second")
]
print([job.result() for job in jobs])
asyncio.run_coroutine_threadsafe(loop.shutdown_asyncgens(), loop).result()
loop.call_soon_threadsafe(loop.stop)

# Output:
# ['one', 'two']
