"""Skill names are found in what people type."""

import pytest

from dovetail.skills import extract_skill_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("/skill/review", ["review"]),
        ("please /skill/review this", ["review"]),
        ("/skill/a then /skill/b, and /skill/a again.", ["a", "b"]),
        ("(/skill/pdf-tools_2)", ["pdf-tools_2"]),
        ("use /skill/v1.2.", ["v1.2"]),
        ("line\n/skill/x\nline", ["x"]),
        ("用/skill/翻译\uff0c谢谢", ["翻译"]),
        ("用/skill/pdf处理这个文件", ["pdf"]),
        ("https://example.org/skill/review", []),
        ("see src/skill/review.py", []),
        ("/skills/review", []),
        ("/skill/", []),
        ("/skill/-x", []),
        ("/skill/../etc", []),
        ("/skill/a/b", []),
        ('"/skill/quoted"', ["quoted"]),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert extract_skill_names(text) == names
