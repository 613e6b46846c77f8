"""Dovetail's side: the results of a case."""

import logging
from typing import Any

from conformance.building import apply, written
from conformance.notation import decode
from conformance.views import take, take_all
from dovetail import Agent
from dovetail.prompt import Prompt
from dovetail.settings import Settings, default_settings


class _Warnings(logging.Handler):
    """Collects logged warnings."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.warned: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.warned.append(record.getMessage())


def run(case: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a case."""
    handler = _Warnings()
    logger = logging.getLogger("dovetail")
    propagates, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        return _run_file(case, handler.warned) if "file" in case else _run_layers(case, handler.warned)
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates


def _run_layers(case: dict[str, Any], warned: list[str]) -> dict[str, Any]:
    settings = Settings(parent=None if case.get("bare") else default_settings())
    for key, value in case.get("settings", []):
        settings.set(key, decode(value))
    prompt = None
    done: dict[str, Any] = {}
    for layer, operations in enumerate(case["layers"]):
        prompt = Prompt(parent=prompt, settings=settings)
        done |= apply(prompt, layer, operations, warned)
    return {**done, **take_all(case, prompt, warned)}


def _run_file(case: dict[str, Any], warned: list[str]) -> dict[str, Any]:
    agent = Agent()
    file = case["file"]
    load = agent.load_yaml_prompt if file["format"] == "yaml" else agent.load_json_prompt
    mappings = decode(file["mappings"]) if "mappings" in file else None

    def read() -> None:
        with written(file) as source:
            load(source, mappings, prompt_key_path=file.get("path"))

    results = {"load": take(read, warned)}
    if "error" in results["load"]:
        return results
    results["agent data"] = take(lambda: agent.agent_prompt.get(), warned)
    results["agent text"] = take(agent.get_prompt_text, warned)
    results["agent json"] = take(agent.get_json_prompt, warned)
    results["agent yaml"] = take(agent.get_yaml_prompt, warned)
    return {**results, **take_all(case, agent.request_prompt, warned)}
