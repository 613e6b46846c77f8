"""Let one agent call another: a function whose body is a model becomes a tool of the second agent."""

from typing import Literal

from dovetail import Agent

translator = Agent(system="You translate texts. Answer with the translation alone.")
clerk = Agent(system="You write to the customers of a wood shop.")


@translator.auto_func
def translate(text: str, language: Literal["English", "French", "German"]) -> str:
    """Translate a text into another language."""
    ...


clerk.use_tools(translate)

if __name__ == "__main__":
    print(translate("The table is red.", "German"))
    print(clerk.input("Translate into French: The house is green.").start())
