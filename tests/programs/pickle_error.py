# An agent cannot go to another process, and says what to do instead.
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from dovetail import Agent


def main():
    agent = Agent("helper")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            pool.submit(agent.input("Hello").start).result()
        except TypeError as error:
            print(error)


if __name__ == "__main__":
    main()

# Output:
# Cannot pickle or copy agent 'helper': its connections and tools belong to this process. Create the agent inside the worker process, or use threads.
