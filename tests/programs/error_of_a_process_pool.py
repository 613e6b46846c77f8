# A model's error comes back whole from a worker process.
# replies: [{"status": 401, "error": "The key is wrong."}]
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from dovetail import Agent
from dovetail.errors import ModelError


def ask(question):
    return Agent().input(question).start()


if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            pool.submit(ask, "Hello").result()
        except ModelError as error:
            print(error.provider, error.status)

# Output:
# openai 401
