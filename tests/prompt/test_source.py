"""Every key and item of a configuration is found in its text."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings

from dovetail.errors import PromptFileError
from dovetail.prompt.source import Source, find_nearest, find_positions, read_source
from prompt.strategies import names, plain

YAML = """\
# note
input: x
info:
  a: [1, {b: 2}]
  c:
    - d
"""

JSON5 = """\
// {not: [this]}
{
  input: 'it, is: {fine}', /* , */
  "info": {"\\u0061": [1, {b: 2}], "\\x63": [
    "d",
  ]},
}
"""


def test_positions_in_yaml() -> None:
    assert find_positions(Source(YAML, "yaml", "x")) == {
        ("input",): (2, 1),
        ("info",): (3, 1),
        ("info", "a"): (4, 3),
        ("info", "a", 0): (4, 7),
        ("info", "a", 1): (4, 10),
        ("info", "a", 1, "b"): (4, 11),
        ("info", "c"): (5, 3),
        ("info", "c", 0): (6, 7),
    }


def test_positions_in_json5() -> None:
    assert find_positions(Source(JSON5, "json", "x")) == {
        (): (2, 1),
        ("input",): (3, 3),
        ("info",): (4, 3),
        ("info", "a"): (4, 12),
        ("info", "a", 0): (4, 23),
        ("info", "a", 1): (4, 26),
        ("info", "a", 1, "b"): (4, 27),
        ("info", "\\x63"): (4, 35),
        ("info", "\\x63", 0): (5, 5),
    }


def test_nearest_position_is_that_of_what_is_around() -> None:
    positions = find_positions(Source(YAML, "yaml", "x"))
    assert find_nearest(positions, ("info", "a", 1, "missing")) == (4, 10)
    assert find_nearest(positions, ("other",)) is None


@given(names, plain)
@settings(max_examples=30)
def test_json_and_yaml_find_the_same_paths(name: str, value: object) -> None:
    document = {name: value}
    in_json = find_positions(Source(json.dumps(document), "json", "x"))
    in_yaml = find_positions(Source(yaml.safe_dump(document), "yaml", "x"))
    assert set(in_json) - {()} == set(in_yaml)


def test_a_file_in_dovetails_own_folder_is_not_read_as_a_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".dovetail").mkdir()
    (tmp_path / ".dovetail" / "keys.json").write_text('{"groq": "the-secret"}')
    (tmp_path / "link.json").symlink_to(".dovetail/keys.json")
    for path in (".dovetail/keys.json", "link.json", tmp_path / "link.json"):
        with pytest.raises(PromptFileError, match="Dovetail's own folder"):
            read_source(path, "json")
