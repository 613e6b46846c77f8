"""The settings of models: the section `model` and what is in it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from dovetail.errors import ConfigError
from dovetail.settings.section import NOTHING, Section
from dovetail.settings.value import Address, Count, Rule, Seconds, Secret, Table

Api: TypeAlias = Literal["chat", "responses", "anthropic", "google", "bedrock"]
"""APIs of models: chat completions, OpenAI's Responses, Anthropic's Messages, Gemini, Bedrock's Converse."""

Price: TypeAlias = Annotated[float, Rule("a price per million tokens, such as 2.5")]


def _read_thinking(value: Any) -> Any:
    """The words that YAML reads as true and false, and digits from the environment."""
    if value in ("none", "minimal"):
        raise ConfigError(
            f"Unknown level of thinking {value!r}. Did you mean 'off'?",
            hint="Levels of a provider's own are options, such as `reasoning_effort`.",
        )
    if isinstance(value, bool):
        return "medium" if value else "off"
    return int(value) if isinstance(value, str) and value.isdigit() else value


Thinking: TypeAlias = Annotated[
    Literal["off", "low", "medium", "high"] | int,
    Rule(
        "one of: off, low, medium, high, or a number of tokens",
        lambda value: isinstance(value, str) or value > 0,
        _read_thinking,
    ),
]
"""How long a model thinks before it answers; a number is a limit of tokens."""


Cache: TypeAlias = Literal["off", "5m", "1h"]
"""How long a provider keeps the beginning of a request, if that has to be requested."""


class TimeLimits(Section):
    """Time limits of a request to a model, in seconds."""

    connect: Seconds = 10.0
    """Seconds until the connection is open."""

    first_token: Seconds = 180.0
    """Seconds until the first token arrives."""

    idle: Seconds = 90.0
    """Seconds between two pieces of an answer."""

    total: Seconds = 900.0
    """Seconds for the whole request."""


class RetrySettings(Section):
    """How often a failed request is tried again; only before its first token arrived."""

    attempts: Count = 4
    """Total number of attempts."""

    first_delay: Seconds = 0.5
    """Seconds before the second attempt; doubled each time, with some jitter."""

    longest_delay: Seconds = 8.0
    """The longest delay between two attempts, in seconds."""

    longest_wait: Seconds = 60.0
    """The longest `Retry-After` to respect, in seconds; a longer one raises the error at once."""


class PriceSettings(Section):
    """What a model's tokens cost, per million."""

    input: Price
    """Tokens that the model reads."""

    output: Price
    """Tokens that the model writes."""

    cached: Price | None = None
    """Tokens that the provider has cached; without it, the price of input tokens."""

    cache_write: Price | None = None
    """Tokens that the provider writes to its cache; without it, the price of input tokens."""


class EndpointSettings(Section):
    """How a provider's server is reached."""

    base_url: Address | None = None
    """The server's address without the path of a request (`/chat/completions`); by default the provider's."""

    api_key: Secret | None = None
    """The server's API key; by default the provider's own variable is read, such as `ANTHROPIC_API_KEY`."""

    api: Api | None = None
    """The API that the server speaks; by default the provider's, and `chat` for a provider of your own."""

    api_version: str | None = None
    """Azure only: the version of the API; without it (and `OPENAI_API_VERSION`), the v1 API is used."""

    structured: Literal["auto", "schema", "prompt"] = "auto"
    """How the schema of an answer is enforced: by the server, by the prompt, or by the server if it can."""

    thinking: Thinking | None = None
    """How long the model thinks before it answers: off, low, medium, high, or a number of tokens."""

    think_tags: bool = False
    """Whether reasoning that came as `<think>…</think>` goes back to the server in these tags."""

    cache: Cache = "5m"
    """Anthropic and Bedrock: how long the unchanging beginning of requests is cached: off, 5m or 1h."""

    stream: bool = True
    """Whether answers are streamed; switch it off for servers that cannot."""

    options: Table = NOTHING
    """Sent with every request: `temperature`, `max_tokens`, `reasoning_effort`, …"""

    headers: Mapping[str, Secret] = NOTHING
    """Further HTTP headers."""

    body: Table = NOTHING
    """Further fields of the request body; they override all others."""

    proxy: Secret | None = None
    """The HTTP proxy, as `http://user:password@host:port`; by default the environment's."""

    timeouts: TimeLimits = TimeLimits()
    """Time limits of a request."""

    retries: RetrySettings = RetrySettings()
    """How often a failed request is tried again."""

    context_tokens: Count | None = None
    """The context window in tokens; long conversations are shortened to fit. By default what is known."""


class ModelSettings(EndpointSettings, key="model"):
    """The model that answers. `base_url`, `api_key` and `api` belong to the provider of `name`."""

    name: Annotated[Any, Rule("a name such as openai:gpt-4.1, or a requester")] = None
    """`provider:name`; by default the embedded model `local:good`. In code also a requester."""

    fallbacks: Sequence[str] = ()
    """Models that are asked, in this order, if the model does not answer."""

    providers: Mapping[str, EndpointSettings] = NOTHING
    """Options of single providers, also your own, with keys from `base_url` to `context_tokens`."""

    prices: Mapping[str, PriceSettings] = NOTHING
    """Prices per million tokens, by model name or pattern (`deepseek:*`). By default the published ones."""

    known_as: Mapping[str, str] = NOTHING
    """The public models behind names of your own, such as an Azure deployment, for windows and prices."""

    download: bool = True
    """Whether the first request downloads an embedded model that is in use and not there (`good`: 1.1 GB)."""

    folders: Sequence[str] = ()
    """Folders with models in GGUF files, for `local:<name>`; they are searched at any depth."""

    def find_window(self, model: str) -> int | None:
        """Return the context window that is set for `provider:name`, or for all models."""
        own = self.providers.get(model.partition(":")[0], self)
        return own.context_tokens or self.context_tokens
