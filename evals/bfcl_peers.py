"""The ways of `evals.bfcl` without Dovetail: the bare server, and peers that call tools on it."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from dovetail.events.call import ToolSpec
from dovetail.lazy import lazy

_KEY = "local"
_TIMEOUT = 600.0
_PROMPT = """\
You may call one of these functions, or answer yourself:
{functions}

Reply with JSON: {{"name": function name, "arguments": {{...}}}}, or {{"name": null}} if no function fits."""
xllamacpp = lazy("xllamacpp", extra="local")
pydantic_ai = lazy("pydantic_ai")
openai_models = lazy("pydantic_ai.models.openai")
openai_provider = lazy("pydantic_ai.providers.openai")


class Peers:
    """The same weights behind an OpenAI-compatible server on loopback, started when first asked."""

    def __init__(self, weights: Path) -> None:
        self._weights = weights

    @cached_property
    def _server(self) -> Any:
        params = xllamacpp.CommonParams()
        params.model.path = str(self._weights)
        params.n_ctx = 8192
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.use_jinja = True
        params.warmup = False
        params.fit_params = False
        params.api_keys = [_KEY]
        params.verbosity = -1
        return xllamacpp.Server(params)

    @property
    def _url(self) -> str:
        return f"{self._server.listening_address}/v1"

    async def ask_bare(self, question: str, tools: Sequence[ToolSpec]) -> tuple[str | None, str]:
        """Return the function that a plain prompt with a JSON schema leads to, if any, and its arguments."""
        functions = "\n".join(json.dumps(_describe(tool)["function"]) for tool in tools)
        calls = [
            {
                "type": "object",
                "properties": {"name": {"const": tool.name}, "arguments": dict(tool.parameters)},
                "required": ["name", "arguments"],
            }
            for tool in tools
        ]
        none = {"type": "object", "properties": {"name": {"type": "null"}}, "required": ["name"]}
        body = {
            "messages": [
                {"role": "system", "content": _PROMPT.format(functions=functions)},
                {"role": "user", "content": question},
            ],
            "temperature": 0,
            "max_tokens": 400,
            "response_format": {"type": "json_schema", "json_schema": {"schema": {"anyOf": [*calls, none]}}},
        }
        async with httpx.AsyncClient(timeout=_TIMEOUT, trust_env=False) as client:
            headers = {"Authorization": f"Bearer {_KEY}"}
            answer = await client.post(f"{self._url}/chat/completions", json=body, headers=headers)
        try:
            call = json.loads(answer.json()["choices"][0]["message"]["content"])
        except (ValueError, KeyError):  # cut off, or refused
            return None, ""
        return call["name"], json.dumps(call.get("arguments"))

    async def ask_pydantic_ai(self, question: str, tools: Sequence[ToolSpec]) -> tuple[str | None, str]:
        """Return the first call of a pydantic-ai agent with these tools, and its arguments."""
        provider = openai_provider.OpenAIProvider(base_url=self._url, api_key=_KEY)
        model = openai_models.OpenAIChatModel("local", provider=provider)
        found: list[tuple[str, str]] = []

        def make(tool: ToolSpec) -> Any:
            def call(**arguments: Any) -> str:
                found.append((tool.name, json.dumps(arguments)))
                return "done"

            return pydantic_ai.Tool.from_schema(call, tool.name, tool.description, dict(tool.parameters))

        agent = pydantic_ai.Agent(model, tools=[make(tool) for tool in tools])
        settings = {"temperature": 0, "max_tokens": 400}
        async with agent.iter(question, model_settings=settings) as steps:
            async for _ in steps:
                if found:
                    break
        return found[0] if found else (None, "")

    async def ask_langchain(self, question: str, tools: Sequence[ToolSpec]) -> tuple[str | None, str]:
        """Return the first call of a LangChain chat model with these tools bound, and its arguments."""
        model = ChatOpenAI(
            base_url=self._url,
            api_key=SecretStr(_KEY),
            model="local",
            temperature=0,
            max_completion_tokens=400,
            timeout=_TIMEOUT,
        )
        answer = await model.bind_tools([_describe(tool) for tool in tools]).ainvoke(question)
        if not answer.tool_calls:
            return None, ""
        return answer.tool_calls[0]["name"], json.dumps(answer.tool_calls[0]["args"])


def _describe(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
