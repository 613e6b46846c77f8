"""Record what a real model answers, once, and replay it in every later run of a test."""

import json
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from dovetail.agent.runtime import default_runtime
from dovetail.data.secrets import SecretMask, find_settings_secrets
from dovetail.data.shapes import is_list, is_mapping
from dovetail.data.text import explain_choices
from dovetail.errors import ConfigError, ModelError
from dovetail.events.call import ModelRequest
from dovetail.events.delta import Delta, FinishDelta, ProgressDelta
from dovetail.requesters.requester import Requester
from dovetail.testing.exchange import Clean, explain_difference, find_nearest, write_answer, write_request
from dovetail.testing.replies import Gate, Reply
from dovetail.testing.requester import play_reply
from dovetail.testing.script import read_step

CassetteMode: TypeAlias = Literal["auto", "record", "replay"]
FORMAT = 1
_MODES = ("auto", "record", "replay")
_TRAITS = ("follows_schema", "calls_tools", "context_tokens", "answer_ways")
"""What a requester says about its model, as far as requests depend on it."""


_LEFT = (
    "the recording of this answer ends here, because its reader left it early. "
    "Delete the file, and the next run records the whole answer."
)


class Cassette:
    """A file with requests to models and their answers: recorded in the first run, replayed in later ones.

    >>> with Cassette("cassettes/woods.json") as cassette:
    ...     Agent(model=cassette.requester("openai:gpt-4.1-mini")).input("A wood for doors?").start()
    'Oak.'

    A later run needs no model, key or network, and yields the same deltas. Requests are found by their
    contents, so that agents may send them in any order and at the same time; one that was not recorded is an
    error that shows the difference. The mode `auto` records if the file does not exist, `record` always,
    `replay` never. A block that fails records nothing. Keys and passwords of the settings and of the
    environment are stored as `***`; `clean` removes more, such as names or today's date, from every text.
    """

    def __init__(self, path: str | Path, *, mode: CassetteMode = "auto", clean: Clean | None = None) -> None:
        if mode not in _MODES:
            raise ConfigError(explain_choices("mode of a cassette", mode, _MODES))
        self.path = Path(path)
        self.replays = mode == "replay" or (mode == "auto" and self.path.exists())
        """Whether answers come from the file; otherwise they come from models and go into it."""
        self._clean = clean
        self._lock = threading.Lock()
        self._models: dict[str, dict[str, Any]] = {}
        self._exchanges: list[dict[str, Any]] = []
        self._unused: list[dict[str, Any]] = []
        self._secrets: set[str] = set()
        if self.replays:
            self._load()

    def __repr__(self) -> str:
        state = f"replays, {len(self._unused)} unused" if self.replays else "records"
        return f"<Cassette {str(self.path)!r}: {len(self._exchanges)} exchanges, {state}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and not self.replays:
            self.save()

    def requester(self, model: Any = None) -> "RecordedRequester":
        """Return a requester that records or replays a model; None means the one that the settings choose.

        The model is a name, such as `openai:gpt-4.1-mini`, or a requester. In a replay it is not looked up.
        """
        named = model if isinstance(model, str) else getattr(model, "model", None) or "default"
        if self.replays:
            if named not in self._models:
                raise ConfigError(
                    f"{self.path}: {explain_choices('model', named, self._models)}", hint=self._hint
                )
            return RecordedRequester(self, dict(self._models[named]))
        real = default_runtime().requester(model)
        traits = {"model": real.model, **read_traits(real)}
        self._models[named] = dict(traits)
        self._secrets.update(getattr(real, "secrets", ()))
        return RecordedRequester(self, traits, real)

    @property
    def unused(self) -> list[Mapping[str, Any]]:
        """The recorded requests that have not been made in this run."""
        return [exchange["request"] for exchange in self._unused]

    def take(self, request: ModelRequest) -> dict[str, Any]:
        """Return the recorded exchange of a request.

        Raises:
            ConfigError: it was not recorded, or all its recordings have been used.
        """
        asked = write_request(request, self._make_clean())
        with self._lock:
            for place, exchange in enumerate(self._unused):
                if exchange["request"] == asked:
                    return self._unused.pop(place)
        nearest = find_nearest(asked, self.unused)
        if nearest is None:
            raise ConfigError(
                f"{self.path}: all {len(self._exchanges)} recorded answers have been used, and one more "
                f"request was made: {asked['messages'][-1]}",
                hint=self._hint,
            )
        raise ConfigError(
            f"{self.path}: this request was not recorded. The nearest recorded one differs:\n"
            f"{explain_difference(nearest, asked)}",
            hint=self._hint,
        )

    def open_exchange(self, request: ModelRequest) -> dict[str, Any]:
        """Add the exchange of a request that is about to be sent; `close_exchange` adds the answer."""
        exchange = {"request": write_request(request, self._make_clean()), "answer": list[Any]()}
        with self._lock:
            self._exchanges.append(exchange)
        return exchange

    def close_exchange(self, exchange: dict[str, Any], deltas: list[Delta], error: ModelError | None) -> None:
        """Add the answer to an exchange."""
        exchange["answer"] = write_answer(deltas, error, self._make_clean())

    def save(self) -> None:
        """Write the file; done at the end of a `with` block that did not fail."""
        data = {"format": FORMAT, "models": self._models, "exchanges": self._exchanges}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    @property
    def _hint(self) -> str:
        return "If the change is intended, delete the file, and the next run records it again."

    def _make_clean(self) -> Clean:
        settings = default_runtime().settings
        mask = SecretMask.for_values([*find_settings_secrets(settings), *self._secrets]).apply
        more = self._clean
        return mask if more is None else lambda text: more(mask(text))

    def _load(self) -> None:
        try:
            data: Any = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(f"Cannot read the cassette {self.path}: {error}", hint=self._hint) from error
        if not is_mapping(data) or data.get("format") != FORMAT or not is_list(data.get("exchanges")):
            raise ConfigError(f"{self.path} is not a cassette of format {FORMAT}.", hint=self._hint)
        self._models = dict(data.get("models") or {})
        self._exchanges = list(data["exchanges"])
        self._unused = list(self._exchanges)


class RecordedRequester:
    """One model of a cassette: the real one, whose answers are recorded, or its recording.

    >>> with Cassette("woods.json") as cassette:
    ...     cassette.requester(ScriptedRequester(["Oak."])).model
    'scripted:model'
    """

    def __init__(self, cassette: Cassette, traits: dict[str, Any], real: Requester | None = None) -> None:
        self._cassette = cassette
        self._traits = traits
        self._real = real

    def __repr__(self) -> str:
        return f"<RecordedRequester {self.model!r}, {self._cassette!r}>"

    @property
    def model(self) -> str:
        """The name of the recorded model."""
        return self._traits["model"]

    @property
    def follows_schema(self) -> bool:
        """Whether the model could be made to follow a schema when it was recorded."""
        return self._traits["follows_schema"]

    @property
    def calls_tools(self) -> bool:
        """Whether the model supported tools when it was recorded."""
        return self._traits["calls_tools"]

    def __getattr__(self, name: str) -> Any:
        if name in _TRAITS and name in self._traits:
            return self._traits[name]
        raise AttributeError(name)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Yield the deltas of the answer: from the model, or as they were recorded."""
        source = self._replay(request) if self._real is None else self._record(self._real, request)
        async with aclosing(source) as deltas:
            async for delta in deltas:
                yield delta

    async def close(self) -> None:
        """Do nothing: the connections of the real model are shared."""

    async def _record(self, real: Requester, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        exchange = self._cassette.open_exchange(request)
        deltas: list[Delta] = []
        failure: ModelError | None = None
        try:
            async with aclosing(real.stream(request)) as answer:
                async for delta in answer:
                    if not isinstance(delta, ProgressDelta):  # how fast a model is, is not what it says
                        deltas.append(delta)
                    yield delta
        except ModelError as error:
            failure = error
            raise
        finally:
            self._cassette.close_exchange(exchange, deltas, failure)
            if failure is None and not (deltas and isinstance(deltas[-1], FinishDelta)):
                exchange["left"] = True
            now = read_traits(real)
            if changed := {name: value for name, value in now.items() if self._traits.get(name) != value}:
                self._traits |= changed  # a server may refuse schemas or tools in its first answer
                exchange["then"] = changed

    async def _replay(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        exchange = self._cassette.take(request)
        steps = [read_step(step, Gate) for step in exchange["answer"]]
        if exchange.get("left"):
            steps.append(ConfigError(f"{self._cassette.path}: {_LEFT}"))
        try:
            async with aclosing(play_reply(Reply(steps=steps), request_id="")) as deltas:
                async for delta in deltas:
                    yield delta
        finally:
            self._traits |= exchange.get("then", {})


def read_traits(requester: Requester) -> dict[str, Any]:
    """Return what a requester says about its model now, as JSON data."""
    found = {name: getattr(requester, name, None) for name in _TRAITS}
    return json.loads(json.dumps({name: value for name, value in found.items() if value is not None}))
