"""`Prompt`: the input of a model as data in named slots (rule P1).

Rendering is pure: it changes nothing, copies only what it returns, and resolves the settings once.
"""

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dovetail.data.layered import LayeredData
from dovetail.errors import ConfigError
from dovetail.lazy import lazy
from dovetail.prompt.export import to_json, to_serializable, to_yaml
from dovetail.prompt.messages import build_messages, build_text
from dovetail.prompt.options import resolve_options
from dovetail.prompt.slots import read_slots, require_content
from dovetail.schema.notation import resolve_schema
from dovetail.settings import Settings, as_settings

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dovetail.prompt.model import PromptModel

_model = lazy("dovetail.prompt.model")
_view = lazy("dovetail.data.rich_view")
_output_model = lazy("dovetail.schema.output_model")


class Prompt(LayeredData):
    """Slots in; text, messages, an output model and exports out.

    Slots are `system developer chat_history info tools action_results instruct examples input attachment
    output output_format options`; every other key is an extra block with its key as title.

    >>> prompt = Prompt({"system": "You are brief.", "input": "A wood?"})
    >>> prompt.to_messages()
    [{'role': 'system', 'content': 'You are brief.'}, {'role': 'user', 'content': 'A wood?'}]
    """

    logs: ClassVar[frozenset[str]] = frozenset({"chat_history"})

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        parent: "Prompt | None" = None,
        settings: Settings | Mapping[str, Any] | None = None,
    ) -> None:
        self._settings = None if settings is None else as_settings(settings)
        super().__init__(data, parent=parent)

    def _repr_html_(self) -> str | None:
        """Show the whole prompt in a notebook, as `to_text` returns it; None if it has no content."""
        try:
            return _view.show_text(self.to_text())
        except ConfigError:
            return None

    @property
    def settings(self) -> Settings | None:
        """The settings for rendering: its own, otherwise its parent's; None means the defaults."""
        if self._settings is None and isinstance(self._parent, Prompt):
            return self._parent.settings
        return self._settings

    def to_text(self, role_mapping: Mapping[str, str] | None = None) -> str:
        """Return the prompt as one text, from `user:` to `assistant:`.

        >>> Prompt({"input": "A wood?"}).to_text({"assistant": "carpenter"}).splitlines()
        ['user:', '[INPUT]:', 'A wood?', '', '[OUTPUT]:', 'carpenter:']
        """
        slots = read_slots(self.get())
        require_content(slots)
        return build_text(slots, resolve_options(self.settings).with_roles(role_mapping))

    def to_messages(
        self,
        role_mapping: Mapping[str, str] | None = None,
        rich_content: bool | None = False,
        strict_role_orders: bool | None = True,
    ) -> list[dict[str, Any]]:
        """Return the prompt as chat messages.

        `rich_content` makes contents lists of parts, so that images and the like are kept;
        `strict_role_orders` joins adjacent messages of one role and makes user and assistant alternate.

        >>> picture = {"type": "image_url", "image_url": {"url": "https://example.com/door.png"}}
        >>> prompt = Prompt({"input": "Which wood?", "attachment": [picture]})
        >>> [part["type"] for part in prompt.to_messages(rich_content=True)[0]["content"]]
        ['text', 'image_url']
        """
        slots = read_slots(self.get())
        require_content(slots)
        options = resolve_options(self.settings).with_roles(role_mapping)
        return build_messages(slots, options, rich_content, strict_role_orders)

    def to_prompt_object(self) -> "PromptModel":
        """Return the slots as a validated pydantic model.

        >>> Prompt({"input": "A wood?", "output": {"wood": (str,)}}).to_prompt_object().input
        'A wood?'
        """
        data = self.get()
        read_slots(data)  # raises our own error, which names the slot
        return _model.PromptModel(**data)

    def to_output_model(self) -> "type[BaseModel]":
        """Return a pydantic model of the output that validates and casts the answer.

        >>> model = Prompt({"output": {"wood": (str,), "price": (float,)}}).to_output_model()
        >>> model(wood="oak", price="12.5").price
        12.5
        """
        schema = read_slots(self.get()).output
        settings = self.settings
        if settings is not None and settings.get("prompt.resolve_type_names"):
            schema = resolve_schema(schema)
        return _output_model.build_output_model(schema)

    def to_serializable_prompt_data(self, inherit: bool = False) -> dict[str, Any]:
        """Return the slots as data for JSON and YAML; with `inherit`, including those of the parents.

        >>> Prompt({"output": {"wood": (str, "in English")}}).to_serializable_prompt_data()
        {'output': {'wood': {'$type': 'str', '$desc': 'in English'}}}
        """
        return to_serializable(self.get(inherit=inherit))

    def to_json_prompt(self, inherit: bool = False) -> str:
        """Return the slots as JSON text for `load_json_prompt`.

        >>> prompt = Prompt({"input": "A wood?"}, parent=Prompt({"system": "Be brief."}))
        >>> print(prompt.to_json_prompt(inherit=True))
        {
          "system": "Be brief.",
          "input": "A wood?"
        }
        """
        return to_json(self.to_serializable_prompt_data(inherit))

    def to_yaml_prompt(self, inherit: bool = False) -> str:
        """Return the slots as YAML text for `load_yaml_prompt`.

        >>> print(Prompt({"input": "A wood?", "info": ["Oak is hard."]}).to_yaml_prompt().strip())
        input: A wood?
        info:
        - Oak is hard.
        """
        return to_yaml(self.to_serializable_prompt_data(inherit))

    def _prepare(
        self, key: str, value: Any, mappings: Mapping[str, Any] | None, *, is_item: bool = False
    ) -> tuple[dict[str, Any], str, Any]:
        if isinstance(value, str):
            value = textwrap.dedent(value).strip()
        return super()._prepare(key, value, mappings, is_item=is_item)
