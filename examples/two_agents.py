"""Let one agent call another: a function whose body is a model becomes a tool of the second agent."""

from typing import Literal

from dovetail import Agent

translator = Agent(system="You translate texts. Answer with the translation alone.")
clerk = Agent(system="You work in a wood shop. Use the tool `translate` for texts in other languages.")


@translator.auto_func
def translate(text: str, language: Literal["English", "French", "German"]) -> str:
    """Translate the text into the language."""
    ...


clerk.use_tools(translate)

if __name__ == "__main__":
    print(translate("The boards arrive on Monday.", "German"))
    print(clerk.input("How do I say 'The oak boards are sold out.' in French?").start())
