"""A folder's tools can be handed to LangChain."""

import pytest

from dovetail.extensions import ExtensionLoader, to_langchain
from extension_folders import Folders

SOURCE = """
async def get_weather(city: str, unit: str = "c") -> str:
    return f"{city} in {unit}"

TOOL = {
    "label": "weather",
    "name": "get_weather",
    "description": "Query current weather by city",
    "parameters": {"city": {"type": "string", "required": True}, "unit": {"type": "string", "default": "c"}},
    "execute": get_weather,
}
"""


@pytest.mark.timeout(60)  # the package alone takes seconds to import on a busy machine
async def test_the_label_is_a_tag_and_a_call_goes_through(folders: Folders) -> None:
    folders.write("weather", SOURCE)
    [tool] = (await ExtensionLoader(folders.root).reload()).tools
    made = to_langchain(tool)
    assert (made.name, made.tags, made.description) == (
        "get_weather",
        ["weather"],
        "Query current weather by city",
    )
    assert await made.ainvoke({"city": "Rome"}) == "Rome in c"
