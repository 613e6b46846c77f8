"""The tool with which a model loads a skill by itself."""

from dovetail.errors import ToolError
from dovetail.messages.kind import Kind
from dovetail.skills.injection import render_loaded
from dovetail.skills.library import SkillLibrary
from dovetail.tools.function import make_tool
from dovetail.tools.tool import Tool

LOAD_SKILL = "load_skill"


def make_load_skill(library: SkillLibrary) -> Tool:
    """A tool `load_skill(name)` over a library."""

    def load_skill(name: str) -> str:
        """Load a skill: instructions for a kind of work, to read before doing it.

        Args:
            name: the skill's name, as listed.
        """
        skill = library.get(name)
        if skill is None:
            raise ToolError(library.explain_missing(name), type="not_found")
        return render_loaded(skill)

    return make_tool(load_skill, name=LOAD_SKILL, kind=Kind.Read, origin="skills", idempotent=True)
