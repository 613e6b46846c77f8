"""Puts the skills that a message names before its text (rule C34)."""

from collections.abc import Iterable, Sequence

from dovetail.sessions.message import Message, Part
from dovetail.skills.injection import PART, find_seen_skills, make_skill_parts
from dovetail.skills.library import SkillLibrary


def add_skills(
    parts: Sequence[Part], names: Iterable[str], library: SkillLibrary, earlier: Sequence[Message]
) -> list[Part]:
    """A user's parts with the skills they name in front, less those that earlier messages brought in."""
    own = [part for part in parts if part.get("type") != PART]  # only what the library says now counts
    text = "\n".join(str(part.get("text", "")) for part in own if part.get("type") == "text")
    seen = find_seen_skills(part for message in earlier for part in message.parts)
    return [*make_skill_parts(text, library, names=names, seen=seen), *own]
