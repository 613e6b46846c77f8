"""Print how fast the embedded model is, next to bare llama.cpp: `python -m benchmarks.local`.

Both sides have the same weights, threads and batch: those that `llama.load` chooses. They answer the same
prompts in turns, and the best round of each counts; no prompt begins like an earlier one, so that nothing of
it is in a cache. Then a real `dovetail serve` answers chats with its shipped tools, and the time until the
first token counts: of the first chat, sent as soon as the server listens, and of later ones.

Options: `speed` or `chat` for one half, `--model NAME` (by default `good`), `--rounds N`.
"""

import argparse
import asyncio
import http.client
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import Row, report
from benchmarks.server.process import find_port, start_server
from dovetail.events.call import ModelRequest
from dovetail.events.delta import FinishDelta, ProgressDelta, TextDelta
from dovetail.requesters.local.llama import load
from dovetail.requesters.local.requester import LocalRequester, make_requester
from dovetail.requesters.openai.format import read_usage
from dovetail.settings.model import ModelSettings

ANSWER_TOKENS = 60
PROMPTS = {"100 tokens": 60, "900 tokens": 860}
"""The prompts by their approximate length, with the number of words in each."""
WORDS = [
    "oak",
    "ash",
    "saw",
    "door",
    "hinge",
    "plane",
    "glue",
    "nail",
    "board",
    "beam",
    "pine",
    "lathe",
    "clamp",
    "chisel",
    "bench",
    "joint",
]
CHATS = {
    "first chat": ("Who wrote Hamlet?", 12.0),
    "second chat": ("What is the capital of Italy?", 6.0),
    "third chat": ("Say good morning in French.", 6.0),
    "chat with a tool": ("What is 318 * 47?", 6.0),
}
_BEGINNINGS = ("text-delta", "reasoning-delta", "tool-input-start")


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds until the first token, seconds after it, and the tokens of the prompt and of the answer."""

    first: float
    rest: float
    prompt: int
    answer: int

    @property
    def prompt_speed(self) -> float:
        """Prompt tokens per second."""
        return self.prompt / self.first

    @property
    def answer_speed(self) -> float:
        """Answer tokens per second after the first."""
        return (self.answer - 1) / self.rest


def write_prompt(words: int, number: int) -> list[dict[str, str]]:
    """Return messages that begin with a text of their own."""
    text = " ".join(WORDS[(place * (number + 3) + number) % len(WORDS)] for place in range(words))
    return [
        {"role": "system", "content": f"Note {number}: you know woods and tools."},
        {"role": "user", "content": f"{text}\nWrite a long story about these."},
    ]


OPTIONS = {"max_tokens": ANSWER_TOKENS, "temperature": 0.0, "ignore_eos": True}


async def time_ours(requester: LocalRequester, messages: list[dict[str, str]]) -> Timing:
    """Return how fast Dovetail's requester answers."""
    begin, first, usage = time.perf_counter(), 0.0, None
    async with aclosing(requester.stream(ModelRequest(messages=messages, options=OPTIONS))) as deltas:
        async for delta in deltas:
            if isinstance(delta, TextDelta) and not first:
                first = time.perf_counter() - begin
            elif isinstance(delta, FinishDelta):
                usage = delta.usage
            else:
                assert isinstance(delta, TextDelta | ProgressDelta), delta
    total = time.perf_counter() - begin
    assert usage is not None
    return Timing(first, total - first, usage.input_tokens, usage.output_tokens)


def time_bare(server: Any, messages: list[dict[str, str]]) -> Timing:
    """Return how fast llama.cpp answers without Dovetail."""
    begin = time.perf_counter()
    moments: list[float] = []
    ends: list[Mapping[str, Any]] = []

    def receive(piece: Mapping[str, Any]) -> bool:
        if any(choice["delta"].get("content") for choice in piece.get("choices") or ()):
            moments.append(time.perf_counter() - begin)
        if piece.get("usage"):
            ends.append(piece["usage"])
        return False

    body = {**OPTIONS, "messages": messages, "stream": True, "stream_options": {"include_usage": True}}
    server.handle_chat_completions(body, receive)
    total = time.perf_counter() - begin
    usage = read_usage(ends[-1])
    return Timing(moments[0], total - moments[0], usage.input_tokens, usage.output_tokens)


async def measure_speed(model: str, rounds: int) -> list[Row]:
    """Compare both sides; return ratios of their speeds."""
    requester = make_requester(model, ModelSettings())
    server = await asyncio.to_thread(load, requester.weights, requester.context_tokens)
    numbers = iter(range(1000))
    await time_ours(requester, write_prompt(4, next(numbers)))  # loads the weights
    await asyncio.to_thread(time_bare, server, write_prompt(4, next(numbers)))
    rows: list[Row] = []
    for title, words in PROMPTS.items():
        ours: list[Timing] = []
        bare: list[Timing] = []
        for _ in range(rounds):
            ours.append(await time_ours(requester, write_prompt(words, next(numbers))))
            bare.append(await asyncio.to_thread(time_bare, server, write_prompt(words, next(numbers))))
        for what, speed in (("prompt", _prompt_speed), ("answer", _answer_speed)):
            best_ours, best_bare = max(map(speed, ours)), max(map(speed, bare))
            detail = f"{best_ours:.1f} tokens/s, llama.cpp {best_bare:.1f} ({ours[0].prompt} prompt tokens)"
            rows.append(Row(f"{what}, {title}", best_bare / best_ours, 1.1, "x llama.cpp", detail))
    await requester.close()
    return rows


def _prompt_speed(timing: Timing) -> float:
    return timing.prompt_speed


def _answer_speed(timing: Timing) -> float:
    return timing.answer_speed


def measure_chats(model: str) -> list[Row]:
    """Return the seconds until the first token of chats with a fresh server."""
    with tempfile.TemporaryDirectory() as name:
        port = find_port()
        command = [sys.executable, "-m", "dovetail", "serve", "--port", str(port), "--workspace", name]
        with start_server(command, port, {"DOVETAIL_MODEL": f"local:{model}"}, Path(name)):
            return [
                Row(title, *time_chat(port, question, target)) for title, (question, target) in CHATS.items()
            ]


def time_chat(port: int, question: str, target: float) -> tuple[float, float, str, str]:
    """Send a question as a new chat; return the fields of its row."""
    begin, first, text = time.perf_counter(), 0.0, ""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    headers = {"content-type": "application/json"}
    connection.request("POST", "/api/v1/chat", json.dumps({"message": question}), headers)
    response = connection.getresponse()
    if response.status != 200:
        raise SystemExit(f"The server answered {response.status}: {response.read().decode()[:500]}")
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        chunk = json.loads(line[6:])
        if chunk["type"] in _BEGINNINGS:
            first = first or time.perf_counter() - begin
        text += chunk.get("delta", "")
    connection.close()
    total = time.perf_counter() - begin
    return first or total, target, "s", f"whole answer {total:.1f} s: {' '.join(text.split())[:60]!r}"


def main(arguments: list[str]) -> int:
    """Measure; return the exit status, 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.local")
    parser.add_argument("part", nargs="?", choices=("speed", "chat"), help="measure only this half")
    parser.add_argument("--model", default="good")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    load_average = os.getloadavg()[0]
    machine = f"{len(os.sched_getaffinity(0))} cores, load average {load_average:.1f}"
    parts: dict[str, Callable[[], list[Row]]] = {
        "speed": lambda: asyncio.run(measure_speed(options.model, options.rounds)),
        "chat": lambda: measure_chats(options.model),
    }
    titles = {"speed": "compared with llama.cpp", "chat": "first token of a chat"}
    chosen = [options.part] if options.part else list(parts)
    statuses = [
        report(f"local:{options.model}, {titles[part]} ({machine})", parts[part]()) for part in chosen
    ]
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
