# A pool of processes; each makes its own agent.
# replies: [{"when": "France", "text": "Paris"}, {"when": "Spain", "text": "Madrid"}]
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from dovetail import Agent


def ask(country):
    return Agent().input(f"Capital of {country}?").start()


if __name__ == "__main__":
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        print(list(pool.map(ask, ["France", "Spain"])))

# Output:
# ['Paris', 'Madrid']
