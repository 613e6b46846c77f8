# Ctrl-C while an answer is awaited: the program ends at once.
# replies: [{"steps": ["Well, ", {"hold": "never"}], "repeat": true}]
# exit: 1
# stderr: stopped
import os
import signal
import threading

from dovetail import Agent

print("asking", flush=True)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    Agent().input("Think long.").start()
except KeyboardInterrupt:
    raise SystemExit("stopped") from None

# Output:
# asking
