"""The ways of `evals.bfcl` without Dovetail: the bare engine, and peers that call tools on the same engine.

The engine's own `tools` return no calls for these weights, so the peers are given a server that does: it
writes the tools with the chat template of the weights, lets the model write freely, and reads `<tool_call>`
blocks. These weights often write the same JSON in a code fence or bare, so that is read as well.
"""

import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from jinja2 import Environment
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from dovetail.events.call import ToolSpec
from dovetail.lazy import lazy
from dovetail.requesters.local.gguf import read_header
from dovetail.requesters.local.llama import load
from evals.bfcl_cases import Calls, Case, Leaderboard

_KEY = "local"
_TIMEOUT = 600.0
_LONGEST = 400
_BLOCK = re.compile(r"<tool_call>(.*?)(?:</tool_call>|$)", re.DOTALL)
_FENCE = re.compile(r"```(?:json)?\n(.*?)```", re.DOTALL)
pydantic_ai = lazy("pydantic_ai")
openai_models = lazy("pydantic_ai.models.openai")
openai_provider = lazy("pydantic_ai.providers.openai")


class Engine:
    """The weights with their own chat template; a prompt that was answered is not answered again.

    `seconds` is the time of the last answer, also if it was made earlier.
    """

    def __init__(self, weights: Path) -> None:
        self._weights = weights
        self._answers: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()
        self.seconds = 0.0

    @cached_property
    def _server(self) -> Any:
        return load(self._weights)

    @cached_property
    def _template(self) -> Any:
        source = str(read_header(self._weights).metadata["tokenizer.chat_template"])
        environment = Environment(trim_blocks=True, lstrip_blocks=True)
        environment.filters["tojson"] = partial(json.dumps, ensure_ascii=False)  # Jinja's is for HTML
        return environment.from_string(source)

    def answer(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> str:
        """Return what the model writes after the conversation, with the most likely token each time."""
        prompt = self._template.render(messages=messages, tools=tools, add_generation_prompt=True)
        with self._lock:
            if prompt not in self._answers:
                begin = time.monotonic()
                text = self._complete(prompt)
                self._answers[prompt] = text, time.monotonic() - begin
            text, self.seconds = self._answers[prompt]
        return text

    def _complete(self, prompt: str) -> str:
        pieces: list[str] = []

        def receive(piece: Mapping[str, Any]) -> bool:
            pieces.extend(choice.get("text") or "" for choice in piece.get("choices") or ())
            return False

        body = {"prompt": prompt, "temperature": 0, "max_tokens": _LONGEST, "stream": True}
        self._server.handle_completions(body, receive)
        return "".join(pieces)


def read_calls(text: str) -> Calls:
    """Return the calls that a reply in the template's format has, in blocks, fences or bare."""
    calls: list[tuple[str, Any]] = []
    for part in _BLOCK.findall(text) or _FENCE.findall(text) or [text]:
        for value in _read_values(part):
            if isinstance(value, dict) and isinstance(value.get("name"), str) and "arguments" in value:
                calls.append((value["name"], value["arguments"]))
    return calls


def _read_values(text: str) -> list[Any]:
    """Return the JSON values that follow each other in a text, up to the first other word."""
    decoder, values = json.JSONDecoder(), []
    while text := text.strip().lstrip(","):
        try:
            value, end = decoder.raw_decode(text)
        except ValueError:
            break
        values += value if isinstance(value, list) else [value]
        text = text[end:]
    return values


def strip_flags(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool without the flags that are for OpenAI's server and tell a model nothing."""
    function = {key: value for key, value in tool["function"].items() if key != "strict"}
    parameters = function.get("parameters") or {}
    kept = {key: value for key, value in parameters.items() if key != "additionalProperties" or value}
    return {**tool, "function": {**function, "parameters": kept}}


class Face(BaseHTTPRequestHandler):
    """Chat completions over the engine, as OpenAI-compatible servers answer them."""

    engine: Engine

    def do_POST(self) -> None:
        """Answer one request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools = [strip_flags(tool) for tool in asked.get("tools") or ()]
        text = self.engine.answer(asked["messages"], tools)
        calls = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(read_calls(text))
        ]
        message = {"role": "assistant", "content": None if calls else text}
        choice = {
            "index": 0,
            "message": {**message, "tool_calls": calls} if calls else message,
            "finish_reason": "tool_calls" if calls else "stop",
        }
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": "local", "choices": [choice]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal for the results."""


class Peers:
    """The ways of others to ask the same weights, started when first asked."""

    def __init__(self, weights: Path, leaderboard: Leaderboard) -> None:
        self.engine = Engine(weights)
        self._leaderboard = leaderboard

    @cached_property
    def _url(self) -> str:
        face = type("EngineFace", (Face,), {"engine": self.engine})
        server = ThreadingHTTPServer(("127.0.0.1", 0), face)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/v1"

    async def ask_bare(self, case: Case) -> Calls:
        """Return the calls that the engine writes after the weights' own template for tools."""
        messages = [{"role": "user", "content": case.question}]
        return read_calls(self.engine.answer(messages, [_describe(tool) for tool in case.tools]))

    async def ask_in_words(self, case: Case) -> Calls:
        """Return the calls that the engine writes after the leaderboard's own prompt."""
        return self._leaderboard.read_reply(self.engine.answer(self._leaderboard.write_prompt(case)))

    async def ask_pydantic_ai(self, case: Case) -> Calls:
        """Return the calls in the first answer to a pydantic-ai agent with these tools."""
        provider = openai_provider.OpenAIProvider(base_url=self._url, api_key=_KEY)
        model = openai_models.OpenAIChatModel("local", provider=provider)
        found: list[tuple[str, Any]] = []

        def make(tool: ToolSpec) -> Any:
            def call(**arguments: Any) -> str:
                return "done"

            return pydantic_ai.Tool.from_schema(call, tool.name, tool.description, dict(tool.parameters))

        agent = pydantic_ai.Agent(model, tools=[make(tool) for tool in case.tools])
        async with agent.iter(case.question, model_settings={"temperature": 0}) as steps:
            async for step in steps:
                if response := getattr(step, "model_response", None):
                    found += [(call.tool_name, call.args_as_dict()) for call in response.tool_calls]
                    break
        return found

    async def ask_langchain(self, case: Case) -> Calls:
        """Return the calls in the answer of a LangChain chat model with these tools bound."""
        model = ChatOpenAI(
            base_url=self._url, api_key=SecretStr(_KEY), model="local", temperature=0, timeout=_TIMEOUT
        )
        answer = await model.bind_tools([_describe(tool) for tool in case.tools]).ainvoke(case.question)
        return [(call["name"], call["args"]) for call in answer.tool_calls]


def _describe(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
