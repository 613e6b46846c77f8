"""Skills: find `SKILL.md` files, resolve names, add them to conversations."""

from dovetail.skills.injection import (
    LOAD_SKILL,
    extract_skill_names,
    find_seen_skills,
    make_load_skill,
    make_skill_parts,
    render_skill,
    summarize_skills,
)
from dovetail.skills.library import SkillLibrary, SkillProblem, SkillRoot, find_roots
from dovetail.skills.skill import Skill

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
