"""Get a typed answer: the class is the schema, the result is an instance of it."""

from pydantic import BaseModel, Field

from dovetail import Agent


class Line(BaseModel):
    """One line of an invoice."""

    item: str
    amount: float = Field(description="in euros")


class Invoice(BaseModel):
    """An invoice."""

    customer: str
    lines: list[Line]


TEXT = "Ann Smith bought two oak boards for 48 euros and a pot of glue for 6.50."

if __name__ == "__main__":
    invoice = Agent().input(TEXT).instruct("Write the invoice.").returns(Invoice).start()
    print(f"{invoice.customer}: {sum(line.amount for line in invoice.lines):.2f} euros")
