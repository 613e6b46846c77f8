"""Sorts a message of a customer; the answer is an instance of a class."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from dovetail import Dovetail

MESSAGE = "Order 42 should have been here on Monday. I need it for a party tomorrow! Ann, C-7"


class Ticket(BaseModel):
    """What the model fills in."""

    topic: Literal["delivery", "payment", "other"]
    is_urgent: bool = Field(description="whether the customer cannot wait until tomorrow")
    summary: str = Field(description="one short sentence")


def sort_message(message: str, model: Any = None) -> Ticket:
    """Return the ticket for a message; without a model, the one of the settings answers."""
    app = Dovetail(workspace=Path(__file__).parent)  # reads dovetail.toml
    agent = app.create_agent(model=model, system="You sort messages of customers for the support desk.")
    return agent.input(message).returns(Ticket).start()


if __name__ == "__main__":
    print(sort_message(MESSAGE))
