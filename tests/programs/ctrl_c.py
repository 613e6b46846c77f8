# Ctrl-C while an answer is awaited: the program ends at once, as every Python program does.
# replies: [{"steps": ["Well, ", {"hold": "never"}], "repeat": true}]
# exit: -2
# stderr: KeyboardInterrupt
import os
import signal
import threading

from dovetail import Agent

print("asking", flush=True)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
Agent().input("Think long.").start()

# Output:
# asking
