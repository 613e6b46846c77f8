"""Prompt files: find those of the workspace, describe them, and render them with values."""

from dovetail.prompts.draft import Draft
from dovetail.prompts.file import PromptFile, Variable, read_prompt_file
from dovetail.prompts.library import PromptLibrary, PromptProblem

__all__ = ["Draft", "PromptFile", "PromptLibrary", "PromptProblem", "Variable", "read_prompt_file"]
