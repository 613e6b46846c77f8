"""The former place of `dovetail.tools.makers.browser`; re-exports only."""

from dovetail.tools.makers.browser import make_browser_tool, open_url, read_answer

__all__ = ["make_browser_tool", "open_url", "read_answer"]
