"""Render the same prompts with the package `agently` and print its times as JSON."""

import json
import sys

from agently import Agently

from benchmarks.harness import measure
from benchmarks.prompt.cases import CASES


def main() -> None:
    """Measure each prompt; the output includes the texts for comparison."""
    times, texts = {}, {}
    for name, case in CASES.items():
        prompt = Agently.create_prompt()
        for key, value in case().items():
            prompt.set(key, value)
        functions = {f"{name} text": prompt.to_text, f"{name} messages": prompt.to_messages}
        times |= measure(functions, rounds=5)
        texts |= {work: function() for work, function in functions.items()}
    json.dump({"times": times, "texts": texts}, sys.stdout)


if __name__ == "__main__":
    main()
