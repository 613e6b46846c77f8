"""Export a prompt as data for JSON and YAML, which the configuration loader reads again (rule P210)."""

import json
import re
from collections.abc import Mapping
from typing import Any

from dovetail.data.layered import LayeredData
from dovetail.data.sanitize import read_model_fields, sanitize
from dovetail.data.shapes import is_list, is_mapping, is_tuple
from dovetail.lazy import lazy
from dovetail.prompt.slots import wrap_class
from dovetail.schema.json_data import to_json_data

_yaml = lazy("yaml")

_ODD_BREAKS = re.compile("[\x85\u2028\u2029]")


def to_serializable(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a prompt's data as plain data; tuples in its output become `{"$type", "$desc", "$default"}`."""
    if "output" in data:
        output = data["output"]
        if data.get("output_format") is None and read_model_fields(output) is not None:
            output = wrap_class(output)  # so that it is asked for in the same way when it is loaded again
        data = {**data, "output": [] if output == () else export_schema(output)}
    return sanitize(data)


def to_configuration(agent: LayeredData, request: LayeredData) -> dict[str, Any]:
    """Return an agent's two prompts as one configuration document."""
    return {
        ".agent": to_serializable(agent.get(inherit=False)),
        ".request": to_serializable(request.get(inherit=False)),
    }


def to_json(plain: Mapping[str, Any]) -> str:
    """Return plain data as JSON text."""
    return json.dumps(plain, indent=2, ensure_ascii=False, default=to_json_data)


def to_yaml(plain: Mapping[str, Any]) -> str:
    """Return plain data as YAML text."""
    try:
        return _dump(plain)
    except _yaml.representer.RepresenterError:  # YAML knows no subclasses of text and numbers
        return _dump(to_json_data(plain))


def _dump(plain: Any) -> str:
    text: str = _yaml.safe_dump(plain, indent=2, allow_unicode=True, sort_keys=False)
    if not _ODD_BREAKS.search(text):
        return text

    class Dumper(_yaml.SafeDumper):
        """Escapes text with line breaks that would be read as ordinary ones."""

    def write_text(dumper: Any, text: str) -> Any:
        style = '"' if _ODD_BREAKS.search(text) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, write_text)
    return _yaml.dump(plain, Dumper=Dumper, indent=2, allow_unicode=True, sort_keys=False)


def export_schema(schema: Any) -> Any:
    """Return a schema with its tuples as mappings, at every depth."""
    if is_tuple(schema):
        return _export_field(schema) if schema else "()"
    if is_mapping(schema):
        return {key: export_schema(item) for key, item in schema.items()}
    if is_list(schema):
        return [export_schema(item) for item in schema]
    if read_model_fields(schema) is not None:
        return {name: _export_class_field(field) for name, field in sanitize(schema).items()}
    return schema


def _export_class_field(field: tuple[Any, ...]) -> Any:
    """Return a field of a class; without a description, the name of its type, which renders the same."""
    is_name = len(field) == 1 and isinstance(field[0], str)
    return field[0] if is_name else export_schema(field)


def _export_field(field: tuple[Any, ...]) -> dict[str, Any]:
    kind, description, default, *_ = *field, None, None
    exported = {"$type": export_schema(kind)}
    if description:
        exported["$desc"] = description
    if len(field) > 2 and default is not None:
        exported["$default"] = default
    return exported
