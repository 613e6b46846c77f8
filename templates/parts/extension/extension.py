"""Says hello: change it into what you need."""

from typing import Annotated

from dovetail import tool


@tool(kind="read")
def my_tool(who: Annotated[str, "Whom to greet"], times: Annotated[int, "How often"] = 1) -> str:
    """Greet a person by name. Returns the greeting."""
    return " ".join([f"Hello, {who}!"] * times)
