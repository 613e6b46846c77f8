"""The environment leaves folders and tools out."""

import pytest

from dovetail.extensions.exclusion import read_exclusion


@pytest.mark.parametrize(
    ("environment", "excluded", "kept"),
    [
        ({}, ["example", "EXAMPLE"], ["shell"]),
        (
            {"EXTENSION_EXCLUDED_EXTENSIONS": " Internal , legacy,"},
            ["example", "internal", "LEGACY"],
            ["shell"],
        ),
        ({"EXTENSION_EXCLUDED_EXTENSIONS": ""}, [], ["example"]),
        ({"EXTENSION_EXCLUDED_EXTENSIONS": " , "}, [], ["example"]),
    ],
)
def test_folders(environment: dict[str, str], excluded: list[str], kept: list[str]) -> None:
    exclusion = read_exclusion(environment)
    assert all(exclusion.has_extension(name) for name in excluded)
    assert not any(exclusion.has_extension(name) for name in kept)


def test_tools_have_no_default() -> None:
    assert not read_exclusion({}).has_tool("example")
    exclusion = read_exclusion({"EXTENSION_EXCLUDED_TOOLS": "demo_tool, Debug"})
    assert exclusion.has_tool("Demo_Tool")
    assert exclusion.has_tool("debug")
