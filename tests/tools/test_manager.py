"""The agents' face of the registry (rule A20)."""

from typing import Annotated, Literal

import pytest

from dovetail.errors import ConfigError, ToolError
from dovetail.tools import ToolManager


def cut(plank: str, length: float = 1.0, mode: Literal["rip", "cross"] = "rip") -> str:
    return f"{plank} {length} {mode}"


def test_tools_are_listed_by_tag_in_the_order_of_registration() -> None:
    manager = ToolManager()

    @manager.tool_func
    def plane(plank: Annotated[str, "which one"]) -> int:
        """Make a plank flat."""
        return len(plank)

    manager.register(
        "cut", "Cut a plank.", {"plank": (str, "which one"), "length": (float, "in m")}, cut, str
    )
    manager.tag(["cut", "plane"], "agent-joiner")
    manager.tag("cut", ["agent-sawyer", "sharp"])
    assert [entry["name"] for entry in manager.get_tool_list(tags="agent-joiner")] == ["plane", "cut"]
    assert list(manager.get_tool_info(["agent-sawyer"])) == ["cut"]
    assert manager.get_tool_list("nobody") == []
    assert manager.get_tool_list() == [
        {
            "name": "plane",
            "desc": "Make a plank flat.",
            "kwargs": {"plank": ("str", "which one")},
            "returns": int,
        },
        {
            "name": "cut",
            "desc": "Cut a plank.",
            "kwargs": {"plank": (str, "which one"), "length": (float, "in m")},
            "returns": str,
        },
    ]
    assert plane("oak") == 3


def test_tool_info_is_in_the_order_of_registration_and_has_the_first_of_a_name() -> None:
    manager = ToolManager()
    boxes = [manager.open_box(f"agent-{name}", f"agent {name!r}") for name in ("ann", "bob")]
    for name in ("saw", "cut", "glue"):
        manager.register(name, f"{name} a plank", {}, lambda: None)
    for box in boxes:
        box.add(manager.make("sand", box.owner, {}, lambda: None))
    assert list(manager.get_tool_info()) == ["saw", "cut", "glue", "sand"]
    assert manager.get_tool_info()["sand"]["desc"] == "agent 'ann'"


def test_registered_parameters_are_validated_and_defaults_are_optional() -> None:
    manager = ToolManager()
    kwargs = {"plank": (str, "which one"), "length": ("float", "in m"), "mode": Literal["rip", "cross"]}
    tool = manager.register("cut", "Cut.", kwargs, cut)
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "plank": {"type": "string", "description": "which one"},
            "length": {"type": "number", "description": "in m"},
            "mode": {"enum": ["rip", "cross"]},
        },
        "required": ["plank"],
        "additionalProperties": False,
    }
    assert manager.call_tool("cut", {"plank": "oak", "length": 2}) == "oak 2.0 rip"
    with pytest.raises(ToolError, match='`mode` must be one of "rip", "cross", got "slant"') as caught:
        manager.call_tool("cut", {"plank": "oak", "length": 2, "mode": "slant"})
    assert caught.value.type == "invalid_tool_params"


async def test_call_returns_what_the_function_returned_or_raises() -> None:
    manager = ToolManager()

    @manager.tool_func(tags="shop")
    async def measure(values: list[int]) -> list[int]:
        if not values:
            raise ValueError("nothing to measure")
        return sorted(values)

    assert await manager.async_call_tool("measure", {"values": [3, 1]}) == [1, 3]
    with pytest.raises(ToolError, match="ValueError: nothing to measure"):
        await manager.async_call_tool("measure", {"values": []})
    with pytest.raises(ToolError, match=r"Unknown tool 'measur'\. Did you mean 'measure'"):
        await manager.async_call_tool("measur")


def test_two_functions_of_one_name_are_an_error_and_a_redefinition_is_not() -> None:
    manager = ToolManager()
    manager.register("cut", "Cut.", {}, cut)
    manager.register("cut", "Cut again.", {}, cut)
    assert manager.get_tool_info()["cut"]["desc"] == "Cut again."
    with pytest.raises(
        ConfigError, match=r"Duplicate tool name 'cut': defined by code \(.*:cut\) and by code \("
    ):
        manager.register("cut", "Cut.", {}, lambda: None)


def test_tag_of_an_unknown_tool_names_near_ones() -> None:
    manager = ToolManager()
    manager.register("cut", "Cut.", {}, cut)
    with pytest.raises(ConfigError, match=r"Unknown tool 'cutt'\. Did you mean 'cut'"):
        manager.tag("cutt", "x")


def test_schema_is_shown_in_the_notation_of_prompts() -> None:
    manager = ToolManager()

    @manager.tool_func
    def order(
        items: list[str], address: dict[str, str] | None = None, speed: Literal["slow", "fast"] = "slow"
    ) -> None:
        """Order things.

        Args:
            items: what to order
            speed: how fast
        """

    assert manager.get_tool_info()["order"]["kwargs"] == {
        "items": ("list[str]", "what to order"),
        "address": ("dict | None", "(optional)"),
        "speed": ('Literal["slow", "fast"]', 'how fast (optional, "slow" by default)'),
    }
