# A chat loop catches Ctrl-C and goes on.
# replies: [{"steps": ["Well, ", {"hold": "never"}]}, "Hello again."]
import os
import signal
import threading

from dovetail import Agent

agent = Agent()
try:
    for piece in agent.input("Think long.").get_generator():
        print(piece.strip())
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
except KeyboardInterrupt:
    print("stopped")
print(agent.input("Still there?").start())

# Output:
# Well,
# stopped
# Hello again.
