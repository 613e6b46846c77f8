"""The original's side: read batches of cases from standard input, one per line, and write their results.

Runs in the virtual environment that holds the package: `PYTHONPATH=tests python -m conformance.oracle`.
"""

import json
import sys
from typing import Any

from agently import Agently
from agently.core import Prompt
from agently.utils import Settings

from conformance.building import apply, written
from conformance.notation import decode
from conformance.translation import dedent_first, show_zeros
from conformance.views import take, take_all


class Messenger:
    """Replaces the package's reporting: collects warnings, raises errors."""

    def __init__(self) -> None:
        self.warned: list[str] = []

    def warning(self, message: Any) -> None:
        self.warned.append(str(message))

    def error(self, error: Any) -> None:
        raise error


def run(case: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a case."""
    messenger = Messenger()
    case = dedent_first(case)
    return _run_file(case, messenger) if "file" in case else _run_layers(case, messenger)


def _run_layers(case: dict[str, Any], messenger: Messenger) -> dict[str, Any]:
    settings = Settings(parent=None if case.get("bare") else Agently.settings)
    settings.set("plugins.PromptGenerator.activate", "AgentlyPromptGenerator")
    for key, value in case.get("settings", []):
        settings.set(key, decode(value))
    prompt = None
    done: dict[str, Any] = {}
    for layer, operations in enumerate(case["layers"]):
        prompt = Prompt(Agently.plugin_manager, settings, parent_prompt=prompt)
        prompt.prompt_generator._messenger = messenger
        done |= apply(prompt, layer, operations, messenger.warned)
    return {**done, **_take_all(case, prompt, messenger)}


def _take_all(case: dict[str, Any], prompt: Any, messenger: Messenger) -> dict[str, Any]:
    results = take_all(case, prompt, messenger.warned)
    layers = [prompt]
    while layers[-1].parent is not None:
        layers.append(layers[-1].parent)
    if sum(show_zeros(layer._data) for layer in layers):
        shown = take_all(case, prompt, messenger.warned)
        results |= {view: shown[view] for view in shown if view.startswith(("text", "messages"))}
    return results


def _run_file(case: dict[str, Any], messenger: Messenger) -> dict[str, Any]:
    agent = Agently.create_agent()
    file = case["file"]
    load = agent.load_yaml_prompt if file["format"] == "yaml" else agent.load_json_prompt
    mappings = decode(file["mappings"]) if "mappings" in file else None
    for prompt in (agent.agent_prompt, agent.request_prompt):
        prompt.prompt_generator._messenger = messenger

    def read() -> None:
        with written(file) as source:
            load(source, mappings, prompt_key_path=file.get("path"))

    results = {"load": take(read, messenger.warned)}
    if "error" in results["load"]:
        return results
    results["agent data"] = take(lambda: agent.agent_prompt.get(), messenger.warned)
    results["agent json"] = take(agent.get_json_prompt, messenger.warned)
    results["agent yaml"] = take(agent.get_yaml_prompt, messenger.warned)
    results |= _take_all(case, agent.request_prompt, messenger)
    return {**results, "agent text": take(agent.get_prompt_text, messenger.warned)}


def main() -> None:
    for line in sys.stdin:
        results = [[number, run(case)] for number, case in json.loads(line)]
        sys.stdout.write(json.dumps(results) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
