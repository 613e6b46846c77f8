# An agent for each request: when it is gone, its tools and what they hold are gone, too.
import gc
import weakref

from dovetail import Agent
from dovetail.agent.runtime import default_runtime


class Data:
    pass


def handle(data):
    agent = Agent("service")

    @agent.tool_func
    def read() -> str:
        """Read the data."""
        return str(data)

    agent.input("Never sent.")


alive = weakref.WeakSet()
for _ in range(200):
    data = Data()
    alive.add(data)
    handle(data)
del data
gc.collect()
print(len(alive), default_runtime().manager.get_tool_list())

# Output:
# 0 []
