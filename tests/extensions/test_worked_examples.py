"""The examples of the extension guide, written into folders and called as a model calls them."""

from typing import Any

import pytest

from dovetail.extensions import ExtensionLoader
from dovetail.extensions.parameters import to_json_schema
from extension_folders import Folders, ask, call_tool

WEATHER = """
def get_weather(city: str, unit: str = "c") -> str:
    unit = unit.lower().strip()
    if unit not in {"c", "f"}:
        return "unit must be 'c' or 'f'"
    temp = 26 if unit == "c" else 79
    return f"{city} current temperature is {temp}°{unit.upper()} (mock)."

TOOL = {
    "label": "weather",
    "name": "get_weather",
    "description": "Query current weather by city",
    "parameters": {
        "city": {"type": "string", "description": "City name", "required": True},
        "unit": {"type": "string", "description": "Temperature unit: c or f", "default": "c"},
    },
    "execute": get_weather,
}
"""
MATH = """
def add(a: float, b: float) -> str:
    return str(a + b)

def multiply(a: float, b: float) -> str:
    return str(a * b)

NUMBERS = {"a": {"type": "number", "required": True}, "b": {"type": "number", "required": True}}
TOOLS = [
    {"label": "math", "name": "add", "description": "Add two numbers", "parameters": NUMBERS, "execute": add},
    {"label": "math", "name": "multiply", "description": "Multiply two numbers", "parameters": NUMBERS,
     "execute": multiply},
]
"""


async def test_single_tool(folders: Folders) -> None:
    folders.write("weather", WEATHER)
    tools = (await ExtensionLoader(folders.root).reload()).tools
    assert await ask(tools, "get_weather", city="Kyoto") == "Kyoto current temperature is 26°C (mock)."
    assert (
        await ask(tools, "get_weather", city="Kyoto", unit=" F")
        == "Kyoto current temperature is 79°F (mock)."
    )
    assert await ask(tools, "get_weather", city="Kyoto", unit="k") == "unit must be 'c' or 'f'"
    assert (await call_tool(tools, "get_weather", unit="c")).status == "error"


async def test_several_tools(folders: Folders) -> None:
    folders.write("math", MATH)
    tools = (await ExtensionLoader(folders.root).reload()).tools
    assert [(tool.name, tool.tags) for tool in tools] == [("add", ("math",)), ("multiply", ("math",))]
    assert await ask(tools, "add", a=1, b=2) == "3.0"
    assert await ask(tools, "multiply", a=1.5, b=2.0) == "3.0"


def test_both_forms_of_parameters_describe_the_same_call() -> None:
    short = to_json_schema(
        {
            "city": {"type": "string", "description": "City", "required": True},
            "days": {"type": "integer", "default": 1},
        }
    )
    long = to_json_schema(
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "City"},
                "days": {"type": "integer", "default": 1},
            },
            "required": ["city"],
        }
    )
    for part in ("type", "properties", "required"):
        assert short[part] == long[part]


@pytest.mark.parametrize("head", ["def", "async def"])
async def test_error_in_a_tool_is_readable_and_shows_no_stack(folders: Folders, head: str) -> None:
    folders.write(
        "one",
        f"""
{head} execute():
    raise ValueError("the plank is too short")
TOOL = {{"label": "x", "name": "saw", "description": "Saws", "parameters": {{}}, "execute": execute}}
""",
    )
    outcome = await call_tool((await ExtensionLoader(folders.root).reload()).tools, "saw")
    assert outcome.status == "error"
    content: Any = outcome.result.llm_content
    assert "the plank is too short" in content
    assert "Traceback" not in content
    assert "extension.py" not in content
