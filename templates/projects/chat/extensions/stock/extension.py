"""What is in stock. The file stock.csv stands for your own database."""

import csv
from pathlib import Path
from typing import Literal

from dovetail import tool
from dovetail.tools import ToolContext

SETTINGS = {
    "low": {"type": "integer", "description": "An item with fewer pieces is low", "default": 5},
}


@tool(kind="read")
def count_stock(item: Literal["chisel", "plane", "saw"], context: ToolContext) -> str:
    """Count the pieces of an item that are in stock, and say whether it is low."""
    with (Path(__file__).parent / "stock.csv").open(encoding="utf-8", newline="") as file:
        stock = {row["item"]: int(row["pieces"]) for row in csv.DictReader(file)}
    state = "low" if stock[item] < context.settings["low"] else "enough"
    return f"{item}: {stock[item]} in stock ({state})"
