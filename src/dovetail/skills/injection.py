"""Add skills to a conversation: as `data-skill` parts before the user's text, once each."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from dovetail.data.shapes import is_mapping
from dovetail.data.text import find_nearest
from dovetail.errors import ToolError
from dovetail.events.call import Kind
from dovetail.skills.library import SkillLibrary
from dovetail.skills.skill import Skill
from dovetail.tools.makers.function import make_tool
from dovetail.tools.tool import Tool

_MENTION = re.compile(
    r"""(?<![A-Za-z0-9_./:\\-])   # not inside a path or an address
    /skill/
    ([A-Za-z0-9][A-Za-z0-9._-]*   # a name in Latin letters ends where other letters begin
    |[^\W\d_][\w.-]*)             # a name in other letters
    (?!/)                         # not the beginning of a path""",
    re.VERBOSE,
)


def extract_skill_names(text: str) -> list[str]:
    """Return the names after `/skill/`, each once, in order of appearance."""
    names = (match.group(1).rstrip(".-_") for match in _MENTION.finditer(text))
    return list(dict.fromkeys(name for name in names if name))


PART = "data-skill"
_MOST_DESCRIBED = 100


def make_skill_parts(
    text: str, library: SkillLibrary, *, names: Iterable[str] = (), seen: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return the parts to put before a user's text: the skills it names and those in `names`, but not `seen`.

    An unknown name becomes a part with an `error` for the model, and the `nearest` names for the user.
    """
    parts: dict[str, dict[str, Any]] = {}
    for name in (*names, *extract_skill_names(text)):
        skill = library.get(name)
        data = _describe_missing(name, library) if skill is None else _describe(skill)
        if data["name"] not in seen:
            parts.setdefault(data["name"], {"type": PART, "data": data})
    return list(parts.values())


def find_seen_skills(parts: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the names of the skills in these parts of a conversation."""
    found = (part.get("data") for part in parts if part.get("type") == PART)
    return {str(data.get("name")) for data in found if is_mapping(data) and "error" not in data}


def render_skill(data: Mapping[str, Any]) -> str:
    """Render a skill for the model: its content between `<skill>` tags."""
    if "error" in data:
        return f"<skill name={quoteattr(data['name'])} error={quoteattr(data['error'])} />"
    body = str(data["content"]).replace("</skill", "&lt;/skill")
    head = f"<skill name={quoteattr(data['name'])} folder={quoteattr(data['folder'])}>"
    lines = [head, "Follow these instructions; do not repeat them.", body]
    if tools := data.get("allowed_tools"):
        lines.append(f"Tools for this skill: {', '.join(tools)}")
    return "\n".join([*lines, "</skill>"])


def render_loaded(skill: Skill) -> str:
    """Render a skill as the result of `load_skill`, with the names of the other files in its folder."""
    files = sorted(path.name for path in skill.folder.iterdir() if path != skill.path)
    text = render_skill(_describe(skill))
    return f"{text}\nFiles in its folder: {', '.join(files)}" if files else text


def summarize_skills(library: SkillLibrary) -> str:
    """Return names and descriptions for a prompt; empty if there are no skills."""
    skills = library.list()
    if not skills:
        return ""
    lines = [f"- {skill.name}: {skill.description}" for skill in skills[:_MOST_DESCRIBED]]
    if further := [skill.name for skill in skills[_MOST_DESCRIBED:]]:
        lines.append(f"- and: {', '.join(further)}")
    return "\n".join(["Skills. Call load_skill with a name before you do what it describes:", *lines])


def _describe_missing(name: str, library: SkillLibrary) -> dict[str, Any]:
    nearest = find_nearest(name, [skill.name for skill in library.list()], most=3)
    return {"name": name, "error": library.explain_missing(name), "nearest": nearest}


def _describe(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "content": skill.body,
        "folder": str(skill.folder),
        "scope": skill.scope,
        "allowed_tools": None if skill.allowed_tools is None else list(skill.allowed_tools),
    }


LOAD_SKILL = "load_skill"


def make_load_skill(library: SkillLibrary) -> Tool:
    """Make the tool `load_skill(name)` of a library."""

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
