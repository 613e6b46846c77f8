"""`dovetail prompt` shows what a file says and where it is wrong."""

import json
from pathlib import Path

import pytest

from command_line import run

GOOD = """\
$system: You plane ${wood}.
input: go
attachment: [{type: image_url, image_url: u}]
.alias:
  instruct: {prompt: be brief}
output:
  answer: {$type: str, $desc: in one word}
"""

BAD = """\
.agent:
  system: You plane ${wood}.
.request:
  input: go
  instrct: be brief
  tools:
    - {name: plane, desc: flat, kwargs: {}}
    - name: saw
      desc: cut
  chat_history:
    - role: 5
      content: x
  output_format: xml
.alias:
  inpt: {}
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_render_shows_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("prompt", "render", write(tmp_path, "p.yaml", GOOD), "--var", "wood=oak and 杉") == 0
    assert capsys.readouterr().out == (
        "user:\n[SYSTEM]:\nYou plane oak and 杉.\n\n[INSTRUCT]:\nbe brief\n\n[INPUT]:\ngo\n\n"
        "[OUTPUT REQUIREMENT]:\nData Format: JSON\nData Structure:\n{\n"
        '  "answer": <str> // in one word\n}\n\n[OUTPUT]:\nassistant:\n'
    )


def test_the_prompts_of_the_library_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("prompt", "new", "plane") == 0
    write(tmp_path / "prompts", "bad.yaml", "input: [")
    capsys.readouterr()
    assert run("prompt", "list") == 0
    shown = capsys.readouterr().out
    assert "plane" in shown
    assert "left out" in shown
    assert run("prompt", "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert "plane" in [each["name"] for each in listed["prompts"]]
    assert [Path(each["path"]).name for each in listed["errors"]] == ["bad.yaml"]


def test_check_prints_json_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = write(tmp_path, "good.yaml", GOOD), write(tmp_path, "bad.yaml", BAD)
    assert run("prompt", "check", good, "--var", "wood=oak", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"problems": []}
    assert run("prompt", "check", bad, "--json") == 1
    problem = json.loads(capsys.readouterr().out)["problems"][0]
    assert (problem["path"], type(problem["line"])) == (str(bad), int)


def test_render_shows_messages_plain_and_rich(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "p.yaml", GOOD)
    assert run("prompt", "render", path, "--messages") == 0
    plain = json.loads(capsys.readouterr().out)
    assert [message["role"] for message in plain] == ["system", "user"]
    assert run("prompt", "render", path, "--rich") == 0
    rich = json.loads(capsys.readouterr().out)
    assert rich[-1]["content"][1] == {"type": "image_url", "image_url": "u"}


def test_render_picks_a_part_of_a_json_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "p.json5", "{team: {ann: {input: 'hi', /* soon */ }}}")
    assert run("prompt", "render", path, "--key", "team.ann") == 0
    assert "[INPUT]:\nhi\n" in capsys.readouterr().out


def test_render_calls_no_method_that_writes_no_slot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("prompt", "render", write(tmp_path, "p.yaml", "input: x\n.alias: {start: {}}")) == 0
    assert capsys.readouterr().err == ".alias start writes no slot, so it is not called here\n"


def test_check_reports_every_problem_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "p.yaml", BAD)
    assert run("prompt", "check", path) == 1
    assert capsys.readouterr().out.replace(f"{path}:", "").splitlines() == [
        "2:3: warning: Missing value for the placeholder 'wood'.",
        "5:3: warning: Unknown slot 'instrct' becomes a block of its own. Did you mean 'instruct'?",
        "8:7: error: prompt slot tools[1]: a tool needs kwargs, got {'name': 'saw', 'desc': 'cut'}",
        "11:7: error: prompt slot chat_history[0].role: a role must be text, got 5",
        "13:3: warning: Unknown output_format 'xml'. Expected one of: json, markdown, text.",
        "15:3: warning: .alias inpt is skipped: an agent has no such method. Did you mean 'input'?",
    ]


def test_check_reports_every_error_of_a_slot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(
        tmp_path,
        "p.yaml",
        """\
input: go
tools:
  - saw
  - {name: plane}
  - {name: rasp, desc: rough, kwargs: {}}
  - {desc: no name, kwargs: {}}
chat_history:
  - {role: 5, content: [x, {type: text, text: y}, 7]}
  - {role: user}
attachment:
  - {image_url: u}
  - {type: 3}
.alias:
  info: {neither: 1}
  input: {nor: 2}
""",
    )
    assert run("prompt", "check", path) == 1
    told = [
        line.partition(", got")[0] for line in capsys.readouterr().out.replace(f"{path}:", "").splitlines()
    ]
    assert told == [
        "3:5: error: prompt slot tools[0]: a tool must be a mapping with name, desc and kwargs",
        "4:5: error: prompt slot tools[1]: a tool needs desc, kwargs",
        "6:5: error: prompt slot tools[3]: a tool needs name",
        "8:6: error: prompt slot chat_history[0].role: a role must be text",
        "8:25: error: prompt slot chat_history[0].content[0]: a part must be a mapping with `type`",
        "8:51: error: prompt slot chat_history[0].content[2]: a part must be a mapping with `type`",
        "9:5: error: prompt slot chat_history[1].content: content must be text or a list of parts",
        "11:5: error: prompt slot attachment[0]: a part needs a `type` that is text",
        "12:5: error: prompt slot attachment[1]: a part needs a `type` that is text",
        "14:3: error: .alias info: info() got an unexpected keyword argument 'neither'",
        "15:3: error: .alias input: input() got an unexpected keyword argument 'nor'",
    ]


def test_check_of_a_good_file_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "p.yaml", GOOD)
    assert run("prompt", "check", path, "--var", "wood=oak") == 0
    assert capsys.readouterr().out == f"{path}: no problems found\n"


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("p.yaml", "a: [1", "1:6: error: this is not valid YAML"),
        ("p.json", '{"a":\n}', "2:1: error: this is not valid JSON"),
        ("p.yaml", "just words", ": error: a prompt configuration must be a mapping, got 'just words'"),
        ("p.yaml", "input: &a {b: [*a]}", "error: this is not valid YAML: a value contains itself"),
        ("p.yaml", "system: only me", "error: Prompt requires at least one of 'input'"),
        ("p.yaml", "input: x\n.alias: {info: {no: 1}}", "2:10: error: .alias info: info() got"),
        (
            "p.yaml",
            "input: x\n.alias: {info: 1}",
            "2:10: error: the parameters of .alias 'info' must be a mapping",
        ),
        (
            "p.yaml",
            "input: x\n.alias: {use_tools: {.args: x}}",
            "2:22: error: the .args of .alias 'use",
        ),
    ],
)
def test_check_of_a_broken_file_is_an_error(
    name: str, text: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("prompt", "check", write(tmp_path, name, text)) == 1
    assert complaint in capsys.readouterr().out


def test_mistyped_directive_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "p.yaml", "input: x\n.agnet: {system: y}\n")
    assert run("prompt", "check", path) == 0
    assert "2:1: warning: Unknown directive '.agnet'" in capsys.readouterr().out
    assert run("prompt", "render", path) == 0
    assert "Did you mean '.agent'?" in capsys.readouterr().err


def test_missing_file_and_wrong_variable_are_clear(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("prompt", "render", tmp_path / "none.yaml") == 1
    assert "Cannot read the prompt file" in capsys.readouterr().err
    assert run("prompt", "render", write(tmp_path, "p.yaml", GOOD), "--var", "wood") == 2
    assert "'wood' is not NAME=VALUE" in capsys.readouterr().err


def test_render_fills_the_defaults_that_the_file_describes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ".about: {variables: {wood: {default: oak}}}\ninput: Plane ${wood}.\n"
    assert run("prompt", "render", write(tmp_path, "p.yaml", text)) == 0
    assert "Plane oak." in capsys.readouterr().out


def test_a_new_prompt_is_sound_and_several_files_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("prompt", "new", "note") == 0
    (tmp_path / "prompts" / "other.yaml").write_text(".about:\n  titel: x\ninput: Hi ${name}\n")
    capsys.readouterr()
    assert run("prompt", "check", "prompts/note.yaml", "prompts/other.yaml") == 1
    assert capsys.readouterr().out.splitlines() == [
        "prompts/note.yaml: no problems found",  # `.about` describes its variables
        "prompts/other.yaml: error: .about: Unknown key 'titel'. Did you mean 'title'?",
    ]
    assert run("prompt", "new", "note") == 1
    assert "Prompt 'note' already exists." in capsys.readouterr().err
