"""Skills: `SKILL.md` files, found, resolved by nearness, and brought into conversations."""

from dovetail.skills.injection import (
    find_seen_skills,
    make_skill_parts,
    render_skill,
    summarize_skills,
)
from dovetail.skills.library import SkillLibrary, SkillProblem, SkillRoot
from dovetail.skills.mention import extract_skill_names
from dovetail.skills.roots import find_roots
from dovetail.skills.skill import Skill
from dovetail.skills.tool import LOAD_SKILL, make_load_skill

__all__ = [
    "LOAD_SKILL",
    "Skill",
    "SkillLibrary",
    "SkillProblem",
    "SkillRoot",
    "extract_skill_names",
    "find_roots",
    "find_seen_skills",
    "make_load_skill",
    "make_skill_parts",
    "render_skill",
    "summarize_skills",
]
