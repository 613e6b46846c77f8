# Ctrl-C in a sync program while a tool is at work in a thread: the program does not wait for the tool.
# replies: [{"tool_calls": [{"name": "sleep", "arguments": {}}]}]
import os
import signal
import threading
import time

from dovetail import Agent

agent = Agent().set_settings("tools.strategy", "native")


@agent.tool_func
def sleep() -> str:
    """Sleep for a long time."""
    print("sleeping", flush=True)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    time.sleep(45)
    return "slept"


try:
    agent.input("Sleep.").start()
except KeyboardInterrupt:
    print("stopped")

# Output:
# sleeping
# stopped
