"""The former place of `dovetail.tools.makers.langchain`; re-exports only."""

from dovetail.tools.makers.langchain import from_langchain, langchain_tools, to_langchain

__all__ = ["from_langchain", "langchain_tools", "to_langchain"]
