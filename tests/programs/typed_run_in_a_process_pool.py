# A worker process returns the whole result of a run, with an object in it.
# replies: [{"json": {"wood": "oak", "price": 900}}]
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from dovetail import Agent


@dataclass
class Quote:
    wood: str
    price: int


def work(task: str):
    return Agent().run(task, returns=Quote)


if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        result = pool.submit(work, "Quote oak.").result()
    print(result.data, result.reason, result.messages[0]["content"].splitlines()[1])

# Output:
# Quote(wood='oak', price=900) goal Quote oak.
