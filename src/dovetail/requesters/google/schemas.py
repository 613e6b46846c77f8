"""JSON Schemas as Gemini accepts them: it rejects a request with a keyword that it does not know.

Arguments and answers are validated against the full schema anyway, so a dropped keyword loses nothing but
guidance.
"""

from collections.abc import Mapping
from typing import Any

from dovetail.data.shapes import is_list, is_mapping

KEPT = {
    "type",
    "format",
    "title",
    "description",
    "default",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "pattern",
    "anyOf",
    "properties",
    "minProperties",
    "maxProperties",
    "additionalProperties",
    "required",
    "propertyOrdering",
}
_DEFINITIONS = ("$defs", "definitions")


def write_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with supported keywords only; its references lead to `$defs`."""
    written = _Writer(schema).write(schema)
    parts: dict[str, Any] = {}
    for keyword in _DEFINITIONS:
        parts.update(schema.get(keyword) or {})
    definitions = {name: _Writer(schema).write(part) for name, part in parts.items()}
    return {**written, "$defs": definitions} if definitions else written


class _Writer:
    """Writer of one schema.

    A reference with keywords next to it is replaced by its target; `is_inside` such a target, references
    stay as they are, so that recursive schemas end.
    """

    def __init__(self, root: Mapping[str, Any], is_inside: bool = False) -> None:
        self._root = root
        self._is_inside = is_inside

    def write(self, schema: Any) -> dict[str, Any]:
        """Return the schema, or `{}` for one that allows anything."""
        if not is_mapping(schema):
            return {}
        parts = schema.get("allOf")
        if is_list(parts) and parts:
            return self._write_all(parts, {name: part for name, part in schema.items() if name != "allOf"})
        if isinstance(schema.get("$ref"), str):
            return self._write_reference(schema)
        return {name: self._write_part(name, part) for name, part in _spell(schema).items() if name in KEPT}

    def _write_part(self, keyword: str, part: Any) -> Any:
        if keyword == "properties":
            return {name: self.write(inner) for name, inner in part.items()} if is_mapping(part) else {}
        if keyword in ("anyOf", "prefixItems"):
            return [self.write(inner) for inner in part] if is_list(part) else []
        if keyword == "items" or (keyword == "additionalProperties" and is_mapping(part)):
            return self.write(part)
        return part

    def _write_reference(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return a bare reference, or its target joined with the keywords that Gemini rejects next to one."""
        address = str(schema["$ref"])
        others = {key: part for key, part in schema.items() if key in KEPT}
        keyword, _, name = address.removeprefix("#/").partition("/")
        if (
            keyword in _DEFINITIONS
            and name in (self._root.get(keyword) or {})
            and (self._is_inside or not others)
        ):
            return {"$ref": f"#/$defs/{name}"}
        return self.write(others) if self._is_inside else self._write_all([{"$ref": address}], others)

    def _write_all(self, parts: list[Any], others: Mapping[str, Any]) -> dict[str, Any]:
        """Return schemas that must all hold as one."""
        if self._is_inside and len(parts) == 1 and is_mapping(parts[0]) and "$ref" in parts[0]:
            return self._write_reference(parts[0])
        inner = _Writer(self._root, is_inside=True)
        joined: dict[str, Any] = {}
        for part in [*map(self._resolve, parts), others]:
            joined = _join(joined, inner.write(part))
        return joined

    def _resolve(self, part: Any) -> Any:
        if not is_mapping(part) or "$ref" not in part:
            return part
        return None if self._is_inside else _find(self._root, str(part["$ref"]))


def _find(root: Mapping[str, Any], address: str) -> Any:
    """Return the part of a schema that a reference points to; None for any other document's."""
    if not address.startswith("#"):
        return None
    found: Any = root
    for step in address.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if is_mapping(found) else None
    return found


def _join(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    joined = {**first, **second}
    if "properties" in first and "properties" in second:
        joined["properties"] = {**first["properties"], **second["properties"]}
    if "required" in first and "required" in second:
        joined["required"] = list(dict.fromkeys([*first["required"], *second["required"]]))
    return joined


def _spell(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema with `const` as an `enum`, and `oneOf` as `anyOf`."""
    spelled = dict(schema)
    if "const" in spelled:
        spelled["enum"] = [spelled["const"]]
    if "oneOf" in spelled:
        spelled.setdefault("anyOf", spelled["oneOf"])
    return spelled
