"""Fits a tool's declared parameters to the function that executes it."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.errors import ExtensionError
from dovetail.tools.numbers import Convert, make_converter
from dovetail.tools.signature import read_signature


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlan:
    """How declared arguments become a function's own.

    `absent` holds what parameters get that a call leaves out: their default, or None where the function has
    none. `dict_name` is the parameter of a function that takes all arguments as one dict; `type_numbers`
    gives the numbers in it the types that the parameters name.
    """

    absent: Mapping[str, Any]
    dict_name: str | None = None
    type_numbers: Convert | None = None

    def apply(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments to call the function with."""
        values = {name: deepcopy(value) for name, value in self.absent.items() if name not in arguments}
        values.update(arguments)
        if self.dict_name is None:
            return values
        return {self.dict_name: values if self.type_numbers is None else self.type_numbers(values)}


def plan_call(function: Callable[..., Any], schema: Mapping[str, Any]) -> CallPlan:
    """Settle how the function is called; one that can never be called with these parameters is an error."""
    own = read_signature(function, {}, is_described=True).schema
    declared: Mapping[str, Any] = schema.get("properties", {})
    needed: list[str] = own.get("required", [])
    defaults = {
        name: value["default"] for name, value in declared.items() if is_mapping(value) and "default" in value
    }
    problem = _find_misfit(own, needed, declared)
    if problem is None:
        optional = [name for name in declared if name not in schema.get("required", [])]
        absent = {name: None for name in optional if name in needed}
        return CallPlan(absent={**absent, **defaults})
    if len(needed) == 1 and _can_be_dict(own["properties"][needed[0]], declared):
        return CallPlan(absent=defaults, dict_name=needed[0], type_numbers=make_converter(schema))
    raise ExtensionError(problem)


def _find_misfit(own: Mapping[str, Any], needed: list[str], declared: Mapping[str, Any]) -> str | None:
    names = own["properties"]
    unknown = [name for name in declared if name not in names]
    if unknown and not own["additionalProperties"]:
        return f"execute has no parameter {', '.join(unknown)}; it takes: {', '.join(names) or 'none'}"
    if undeclared := [name for name in needed if name not in declared]:
        return f"execute needs {', '.join(undeclared)}, which the parameters do not declare"
    return None


def _can_be_dict(schema: Mapping[str, Any], declared: Mapping[str, Any]) -> bool:
    """Whether a parameter is a dict by its annotation, or has none and a single value cannot be meant."""
    return schema.get("type") == "object" or ("type" not in schema and len(declared) > 1)
