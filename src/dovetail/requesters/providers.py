"""The providers that a model can be named after: `anthropic:claude-sonnet-4-5`, `ollama:qwen3`, …

One row per provider: its address, the environment variables that may hold its key, and the API it speaks.
`model.providers.<name>` overrides a row or adds one. Providers that do not speak HTTP to a fixed address
(`local:`, `langchain:`, …) have a maker of their own in `requesters/resolve.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from dovetail.settings.model import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A service or a server that answers requests; its `base_url` is without the path of a request."""

    name: str
    """The word before the colon of a model's name."""

    title: str
    """The name for people."""

    base_url: str = ""
    """The address; empty if it is different for each account and has to be set."""

    keys: tuple[str, ...] = ()
    """Environment variables that may hold the API key; the first that is set counts."""

    signs: bool = False
    """Whether requests without a key are signed, with the credentials of an AWS account."""

    api: Api = "chat"
    """The API that it speaks."""

    structured: Literal["auto", "prompt"] = "auto"
    """How a schema is enforced unless it is set: `prompt` for servers that are known to reject one."""

    is_local: bool = False
    """Whether it runs on this machine by default: it costs nothing and needs no key."""

    key_header: str = "authorization"
    """The header of the key, for the chat API; `authorization` carries it as a bearer token."""

    tokens: tuple[str, ...] = ()
    """Those of `keys` that are bearer tokens, whatever the header of the key is."""

    models: tuple[str, ...] = ()
    """Patterns of its models' names; a provider without any is asked, or looked up in the price data."""

    prices: str = ""
    """Its id in the data of `genai-prices`; empty if it has no prices."""

    address_variable: str = ""
    """An environment variable that may hold the address, as the provider's own package reads it."""

    version: str = ""
    """The end of the path that the address in this variable may lack."""


_ROWS = [
    Provider(
        name="anthropic",
        title="Anthropic",
        base_url="https://api.anthropic.com/v1",
        keys=("ANTHROPIC_API_KEY",),
        address_variable="ANTHROPIC_BASE_URL",
        version="v1",
        api="anthropic",
        models=("claude-*",),
        prices="anthropic",
    ),
    Provider(
        name="google",
        title="Google Gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        address_variable="GOOGLE_GEMINI_BASE_URL",
        version="v1beta",
        api="google",
        models=("gemini-*", "gemma-*"),
        prices="google",
    ),
    Provider(
        name="openai",
        title="OpenAI",
        base_url="https://api.openai.com/v1",
        keys=("OPENAI_API_KEY",),
        address_variable="OPENAI_BASE_URL",
        models=("gpt-[0-9]*", "o[0-9]*", "chatgpt-*", "codex-*", "computer-use-*"),
        prices="openai",
    ),
    Provider(
        name="azure",
        title="Azure OpenAI",
        address_variable="AZURE_OPENAI_ENDPOINT",
        keys=("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
        key_header="api-key",
        tokens=("AZURE_OPENAI_AD_TOKEN",),
        prices="azure",
    ),
    Provider(
        name="bedrock",
        title="Amazon Bedrock",
        base_url="https://bedrock-runtime.{region}.amazonaws.com",
        keys=("AWS_BEARER_TOKEN_BEDROCK",),
        signs=True,
        api="bedrock",
        prices="aws",
    ),
    Provider(
        name="openrouter",
        title="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        keys=("OPENROUTER_API_KEY",),
        prices="openrouter",
    ),
    Provider(
        name="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com",
        keys=("DEEPSEEK_API_KEY",),
        models=("deepseek-*",),
        structured="prompt",
        prices="deepseek",
    ),
    Provider(
        name="mistral",
        title="Mistral",
        base_url="https://api.mistral.ai/v1",
        keys=("MISTRAL_API_KEY",),
        models=("mistral-*", "ministral-*", "magistral-*", "codestral-*", "devstral-*", "pixtral-*"),
        prices="mistral",
    ),
    Provider(
        name="groq",
        title="Groq",
        base_url="https://api.groq.com/openai/v1",
        keys=("GROQ_API_KEY",),
        prices="groq",
    ),
    Provider(
        name="xai",
        title="xAI",
        base_url="https://api.x.ai/v1",
        keys=("XAI_API_KEY",),
        models=("grok-*",),
        prices="x-ai",
    ),
    Provider(
        name="together",
        title="Together AI",
        base_url="https://api.together.xyz/v1",
        keys=("TOGETHER_API_KEY",),
        prices="together",
    ),
    Provider(
        name="fireworks",
        title="Fireworks",
        base_url="https://api.fireworks.ai/inference/v1",
        keys=("FIREWORKS_API_KEY",),
        prices="fireworks",
    ),
    Provider(
        name="vllm",
        title="vLLM",
        base_url="http://127.0.0.1:8000/v1",
        keys=("VLLM_API_KEY",),
        is_local=True,
    ),
    Provider(
        name="lmstudio",
        title="LM Studio",
        base_url="http://127.0.0.1:1234/v1",
        keys=("LM_API_TOKEN",),
        is_local=True,
    ),
    Provider(
        name="ollama",
        title="Ollama",
        base_url="http://127.0.0.1:11434/v1",
        address_variable="OLLAMA_HOST",
        version="v1",
        is_local=True,
    ),
    Provider(
        name="llamacpp",
        title="llama.cpp server",
        base_url="http://127.0.0.1:8080/v1",
        keys=("LLAMA_API_KEY",),
        is_local=True,
    ),
]

PROVIDERS: Mapping[str, Provider] = {row.name: row for row in _ROWS}
"""The providers by name."""

ALIASES: Mapping[str, str] = {
    "gemini": "google",
    "claude": "anthropic",
    "lm-studio": "lmstudio",
    "llama.cpp": "llamacpp",
}
"""Other words that people write before the colon."""


_USUAL_END: Mapping[Api, str] = {"anthropic": "/v1", "google": "/v1beta"}


def find_provider(name: str) -> Provider | None:
    """Return the row of a provider by its name or an alias."""
    return PROVIDERS.get(ALIASES.get(name, name))


def describe_address(name: str, api: Api | None) -> str:
    """Return what the address of a provider usually looks like, as the end of a sentence: `ends in /v1`."""
    row = find_provider(name)
    if row is None or (api or row.api) != row.api:
        end = _USUAL_END.get(api or "chat", "/v1")
        return "is https://bedrock-runtime.<region>.amazonaws.com" if api == "bedrock" else f"ends in {end}"
    if not row.base_url:
        return "is that of the resource, such as https://my-resource.openai.azure.com"
    path = urlsplit(row.base_url).path
    return f"ends in {path}" if path else f"is {row.base_url.replace('{region}', '<region>')}"
