"""What a request expects: how its answer is read, checked and, where the model can be held to it, forced."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dovetail.agent.json_schema import write_json_schema
from dovetail.data.shapes import is_list, is_mapping
from dovetail.lazy import lazy
from dovetail.prompt.prompt import Prompt
from dovetail.prompt.slots import read_output
from dovetail.response.shape import Shape
from dovetail.settings import Settings

T = TypeVar("T")

_pydantic = lazy("pydantic")


@dataclass(frozen=True, slots=True)
class Expectation(Generic[T]):
    """The shape of the answer and the JSON Schema that says the same."""

    shape: Shape[T]
    schema: Mapping[str, Any] | None = None


def expect_output(prompt: Prompt, settings: Settings, *, with_schema: bool) -> Expectation[Any]:
    """What the prompt's output slot asks for."""
    output, output_format = read_output(prompt.get("output"), prompt.get("output_format"))
    if output_format != "json" or not (is_mapping(output) or is_list(output)):
        return Expectation(Shape())
    style = settings.get("response.streaming_parse_path_style", "dot")
    schema = write_json_schema(output) if with_schema else None
    return Expectation(Shape(schema=output, path_style=style, build=_Builder(prompt)), schema)


class _Builder:
    """Makes the prompt's output model at its first use: it needs pydantic."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._model: Any = None

    def __call__(self, data: Any) -> Any:
        if self._model is None:
            self._model = self._prompt.to_output_model()
        return self._model.model_validate({"list": data} if is_list(data) else data)
