"""The chat on a screen, in a pseudo terminal: what a person sees and types."""

import json
import os
from pathlib import Path
from typing import Any

from dovetail.events.delta import ToolCallDelta, Usage
from dovetail.testing import Gate, Reply, ScriptedServer
from pseudo_terminal import Terminal

DOWN, ESCAPE, ENTER, CTRL_C, CTRL_D = "\x1b[B", "\x1b", "\r", "\x03", "\x04"


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": json.dumps(arguments)}]}


def write(path: str, content: str = "oak\n") -> dict[str, Any]:
    return call("write_file", path=path, content=content)


def sit_down(folder: Path, model: ScriptedServer, *options: str, **choices: Any) -> Terminal:
    variables = {"DOVETAIL_MODEL": "openai:scripted", "DOVETAIL_BASE_URL": model.url}
    environment = {**variables, **choices.pop("environment", {})}
    return Terminal("chat", *options, folder=folder, environment=environment, **choices)


def say(terminal: Terminal, text: str) -> None:
    """Send a line once no answer is in progress."""
    wait_for_prompt(terminal)
    terminal.type(f"{text}{ENTER}")


def leave(terminal: Terminal) -> int:
    """Leave once no answer is in progress; return the exit code."""
    wait_for_prompt(terminal)
    terminal.type(CTRL_D)
    return terminal.wait()


def wait_for_prompt(terminal: Terminal) -> None:
    def is_there() -> bool:
        _, found, status = terminal.screen.rpartition("\n>\n")
        return bool(found) and " · " in status and "Enter: add" not in status

    terminal.wait_until(is_there)


MARKDOWN = """# Woods

Some *hard* ones:

- oak
- ash

```python
saw("oak")
```

| wood | hard |
|---|---|
| oak | yes |

The end"""


def test_an_answer_streams_as_markdown_and_each_block_stays_once(tmp_path: Path) -> None:
    gate = Gate()
    with (
        ScriptedServer([{"steps": [MARKDOWN, gate, " of it."]}]) as model,
        sit_down(tmp_path, model) as terminal,
    ):
        say(terminal, "woods?")
        while_open = terminal.wait_until(lambda: "The end\n\n" in terminal.screen)
        assert "Working" in while_open
        assert "Esc stops" in while_open
        gate.open()
        terminal.wait_for("The end of it.")
        assert leave(terminal) == 0
        lines = [line.strip() for line in terminal.text.splitlines()]
    shown = lines[lines.index("> woods?") : lines.index("The end of it.") + 1]
    assert shown == [
        *("> woods?", "", "Woods", "", "Some hard ones:", "", "• oak", "• ash", "", 'saw("oak")', ""),
        *("wood  hard", "──────────", "oak   yes", "", "The end of it."),
    ]
    assert any(line.startswith("Continue with: dovetail chat --session ses_") for line in lines)


def test_a_long_answer_scrolls_away_whole_in_a_narrow_terminal_without_colours(tmp_path: Path) -> None:
    items = "".join(f"- item {number}\n" for number in range(1, 61))
    options = {"size": (40, 15), "environment": {"NO_COLOR": "1", "COLUMNS": "80"}}
    gate = Gate()
    replies = [{"steps": [items, gate]}, call("read_file", path="x" * 100), "Done."]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model, **options) as terminal:
        say(terminal, "list")
        terminal.wait_for("• item 40")  # a block that is longer than the screen
        gate.open()
        terminal.wait_for("• item 60")
        say(terminal, "read")
        terminal.wait_for("Done.")
        assert leave(terminal) == 0
        lines = terminal.text.splitlines()
    assert [line.strip() for line in lines if "• item" in line] == [f"• item {n}" for n in range(1, 61)]
    assert [line for line in lines if "read_file" in line] == ["✗ read_file xxxxxxxxxxxxxxxxxxxx… → 'xx…"]
    assert not any(code in terminal.output for code in (b"\x1b[31m", b"\x1b[36m", b"\x1b[0;31", b"\x1b[38;"))
    assert b"\x1b[?1049h" not in terminal.output  # the alternate screen


def test_an_approval_shows_the_difference_and_takes_every_answer(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("ash\n")
    replies = [
        *(write("a.txt"), "One."),
        *(write("a.txt"), "Two."),
        *(write("b.txt"), "Three."),
        *(write("c.txt"), "Four."),
        *(write("d.txt"), write("d.txt"), "Five."),
        *(write("f.txt"), "Six."),
        *(write("f.txt"), "Seven."),
    ]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model) as terminal:
        say(terminal, "decline")
        asked = terminal.wait_for("▸ 1. Yes")
        assert "master: Allow write_file to change " in asked
        assert "│ -ash\n│ +oak\n" in asked
        assert "2. Yes, also for the same call again in this run" in asked
        terminal.type(ESCAPE)
        terminal.wait_for("? Allow this call? (declined)")
        terminal.wait_for("One.")
        say(terminal, "decline with a reason")
        terminal.wait_for("▸ 1. Yes")
        terminal.type("n, use elm")
        terminal.wait_for_screen("▸ 5. No (n)")
        terminal.type(ENTER)
        terminal.wait_for("Two.")
        assert "use elm" in model.requests[3].body["messages"][-1]["content"]
        say(terminal, "allow")
        terminal.wait_for("a new file: b.txt")
        terminal.wait_for_screen("▸ 1. Yes")
        terminal.type(ENTER)
        terminal.wait_for("✓ write_file path: b.txt, content: oak → created b.txt (4 bytes)")
        terminal.wait_for("Three.")
        say(terminal, "edit")
        terminal.wait_for("a new file: c.txt")
        terminal.wait_for_screen("▸ 1. Yes")
        terminal.type("4")
        terminal.wait_for_screen("▸ 4. Edit the input first (e)")
        terminal.type(ENTER)
        terminal.wait_for_screen('"content": "oak\\n"')
        terminal.type(f"\x1b[A\x1b[A{DOWN}" + "\x01\x0b" + '  "content": "elm"' + ENTER)
        terminal.wait_for("✓ write_file path: c.txt, content: elm → created c.txt")
        terminal.wait_for("Four.")
        say(terminal, "in this run")
        terminal.wait_for("a new file: d.txt")
        terminal.wait_for_screen("▸ 1. Yes")
        terminal.type(f"{DOWN}{ENTER}")
        terminal.wait_for("Five.")
        say(terminal, "always")
        terminal.wait_for("a new file: f.txt")
        terminal.wait_for_screen("▸ 1. Yes")
        terminal.type(f"a{ENTER}")
        terminal.wait_for("Six.")
        say(terminal, "unasked")
        terminal.wait_for("Seven.")
        assert terminal.text.count("? Allow this call?") == 6
    texts = {path.name: path.read_text() for path in tmp_path.glob("*.txt")}
    assert texts.pop("a.txt") == "ash\n"
    assert texts.pop("c.txt") == "elm"
    assert texts == dict.fromkeys(("b.txt", "d.txt", "f.txt"), "oak\n")


def test_approval_that_appears_while_a_message_is_typed_is_not_answered_by_it(tmp_path: Path) -> None:
    gate = Gate()
    wanted = ToolCallDelta(0, "one", "write_file", json.dumps({"path": "a.txt", "content": "oak"}))
    replies = [{"steps": ["Soon", gate, wanted]}, "Declined."]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model) as terminal:
        say(terminal, "go")
        terminal.wait_for("Soon")
        terminal.type("make it")
        terminal.wait_for_screen("> make it")
        gate.open()
        terminal.wait_for_screen("then Enter, Esc declines")
        assert "▸" not in terminal.screen
        terminal.type(ENTER)  # chooses nothing: nothing is marked
        terminal.type("9")
        terminal.wait_for_screen("? 9")
        assert "▸" not in terminal.screen
        terminal.type(ENTER)
        terminal.wait_for("Answer y, r, a, e or n;")
        terminal.wait_for_screen("then Enter, Esc declines")
        terminal.type("3")
        terminal.wait_for_screen("▸ 3. Always allow exactly this call (a)")
        terminal.type(f"{DOWN}{DOWN}")
        terminal.wait_for_screen("▸ 5. No (n)")
        terminal.type(ENTER)
        terminal.wait_for("Declined.")
        terminal.wait_for_screen("> make it")
    assert not (tmp_path / "a.txt").exists()


QUESTIONS = [
    {"question": "Which wood?", "choices": [{"label": "Oak"}, {"label": "Ash"}], "free_text": True},
    {"question": "Which tools?", "choices": [{"label": "Saw"}, {"label": "Plane"}], "multiple": True},
    {"question": "Anything else?"},
]


def test_questions_of_the_model_are_menus_and_fields(tmp_path: Path) -> None:
    with ScriptedServer([call("ask_user", questions=QUESTIONS), "Thanks."]) as model:
        with sit_down(tmp_path, model) as terminal:
            say(terminal, "ask me")
            terminal.wait_for_screen("▸ 1. Oak")
            terminal.type(f"{DOWN}{ENTER}")
            terminal.wait_for_screen("▸ 1. [ ] Saw")
            terminal.type(f" {DOWN} ")
            terminal.wait_for_screen("▸ 2. [x] Plane")
            terminal.type(ENTER)
            terminal.wait_for_screen("Anything else?")
            terminal.type(f"No{ENTER}")
            shown = terminal.wait_for("Thanks.")
        answers = model.requests[1].body["messages"][-1]["content"]
    assert "? Which wood? Ash\n? Which tools? Saw, Plane\n? Anything else? No\n" in shown
    assert all(word in answers for word in ("Ash", "Saw", "Plane", "No"))


def test_an_agent_at_work_is_live_and_then_one_line(tmp_path: Path) -> None:
    hire_scribe(tmp_path)
    (tmp_path / "notes.md").write_text("elm\n")
    gate = Gate()
    replies = [
        {"when": "go", **call("scribe", query="do it")},
        {"when": "do it", **call("read_file", path="notes.md")},
        {"when": "elm", "steps": [gate, "Written."]},
        "It is done.",
    ]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model) as terminal:
        say(terminal, "go")
        terminal.wait_for_screen("    ✓ read_file notes.md")
        assert "  scribe openai:scripted  turn 1" in terminal.screen
        gate.open()
        terminal.wait_for("It is done.")
        terminal.wait_until(lambda: "Working" not in terminal.screen)
        assert "✓ scribe do it → Written. (1 call)" in terminal.screen
        assert "read_file" not in terminal.screen


def test_escape_and_ctrl_c_stop_the_answer_and_ctrl_c_pressed_again_leaves(tmp_path: Path) -> None:
    gate = Gate()
    half = ToolCallDelta(0, "one", "write_file", '{"path": "b.t')
    replies = [{"steps": ["Once", half, gate]}, write("a.txt"), "Never."]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model) as terminal:
        say(terminal, "first")
        terminal.wait_for_screen("Writing the input of write_file")
        terminal.type(ESCAPE)
        terminal.wait_for("Stopped.")
        assert "! write_file → The answer was interrupted" in terminal.text
        say(terminal, "second")
        terminal.wait_for_screen("▸ 1. Yes")
        terminal.type(CTRL_C)
        terminal.wait_for("Stopped.", 2)
        terminal.wait_for_screen("Press Ctrl-C again to leave.")
        terminal.type("draft")
        terminal.wait_for_screen("> draft")
        assert "Press Ctrl-C again" not in terminal.screen
        terminal.type(CTRL_C)  # clears the input
        terminal.wait_for_screen("Press Ctrl-C again to leave.")
        assert "> draft" not in terminal.screen
        terminal.type(CTRL_C)
        assert terminal.wait() == 130
        gate.open()
    assert not (tmp_path / "a.txt").exists()


def test_lines_typed_during_an_answer_are_read_in_its_next_turn_or_answered_after_it(tmp_path: Path) -> None:
    gate = Gate()
    replies = [{"steps": ["10 ft", gate, "."]}, "3 m.", "300 cm.", "Bye."]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model) as terminal:
        say(terminal, "how long?")
        terminal.wait_for("10 ft")
        terminal.type(f"use metres{ENTER}")
        terminal.wait_for("↳ use metres (read in the next turn)")
        terminal.type(f"/queue in cm?{ENTER}")
        terminal.wait_for("↳ in cm? (answered after this one)")
        terminal.type(f"/new{ENTER}")
        terminal.wait_for("↳ /new (after this answer)")
        gate.open()
        terminal.wait_for("> use metres")
        terminal.wait_for("3 m.")
        terminal.wait_for("> in cm?")
        terminal.wait_for("300 cm.")
        terminal.wait_for("A new session begins")
        contents = [message["content"].strip() for message in model.requests[-1].body["messages"][2:]]
        assert contents == ["how long?", "10 ft.", "use metres", "3 m.", "in cm?"]
        say(terminal, "bye")
        terminal.wait_for("Bye.")
        assert len(model.requests[-1].body["messages"]) == 3


def test_commands_and_files_are_completed(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("elm")
    (tmp_path / "skills" / "joinery").mkdir(parents=True)
    (tmp_path / "skills" / "joinery" / "SKILL.md").write_text(
        "---\nname: joinery\ndescription: Joints.\n---\nMeasure."
    )
    with ScriptedServer(["Seen.", "Joined."]) as model, sit_down(tmp_path, model) as terminal:
        terminal.wait_for_screen("default mode")
        terminal.type("/mo")
        shown = terminal.wait_for_screen("/mode [NAME]")
        assert "▸ /model [NAME]  choose the model" in shown
        terminal.type(f"{DOWN}{DOWN}{ENTER}")
        terminal.wait_for_screen("plan  only read")
        terminal.type("pl")
        terminal.wait_until(lambda: "auto" not in terminal.screen and "▸ plan" in terminal.screen)
        terminal.type(ENTER)
        terminal.wait_for("Mode: plan, only read.")
        terminal.wait_for_screen("plan mode")
        terminal.type("see @nts")
        terminal.wait_for_screen("▸ notes.md")
        terminal.type(ENTER)
        terminal.wait_for_screen("> see @notes.md")
        terminal.type(ENTER)
        terminal.wait_for("Attached: notes.md")
        terminal.wait_for("Seen.")
        assert '<file name="notes.md">\nelm\n</file>' in model.requests[0].body["messages"][-1]["content"]
        say(terminal, "/skill joinery join it")
        terminal.wait_for("Joined.")
        assert "Measure." in model.requests[1].body["messages"][-1]["content"]
        say(terminal, "/help")
        shown = terminal.wait_for("Ctrl-D leaves.", 2)
        for key in ("Esc or Ctrl-C stops", "Ctrl-J", "Ctrl-X Ctrl-E", "Ctrl-Z"):
            assert key in shown
        say(terminal, "/agent")
        terminal.wait_for_screen("master (current)")
        terminal.type(ESCAPE)
        terminal.wait_for("? Which agent?")
        say(terminal, "/modle")
        terminal.wait_for("Unknown command '/modle'. Did you mean '/mode' or '/model'?")


def test_a_command_in_full_runs_with_one_enter(tmp_path: Path) -> None:
    with ScriptedServer([]) as model, sit_down(tmp_path, model) as terminal:
        terminal.wait_for_screen("default mode")
        terminal.type("/mode")
        terminal.wait_for_screen("▸ /mode [NAME]")
        terminal.type(ENTER)
        terminal.wait_for_screen("Which mode?")
        terminal.type(f"{DOWN}{ENTER}")
        terminal.wait_for_screen("Mode: default")
        wait_for_prompt(terminal)
        terminal.type("/sessions")
        terminal.wait_for_screen("▸ /sessions [WORDS]")
        terminal.type(ENTER)
        terminal.wait_for_screen("There are no sessions yet.")


def test_several_lines_a_paste_and_the_history_reach_the_model_as_they_are(tmp_path: Path) -> None:
    with ScriptedServer(["One.", "Two.", "Three."]) as model:
        with sit_down(tmp_path, model) as terminal:
            terminal.type(f"/mode plan{ENTER}")  # before the chat is there
            terminal.wait_for("Mode: plan")
            terminal.wait_for_screen("plan mode")
            terminal.type(f"oak\\{ENTER}ash\x1b{ENTER}elm{ENTER}")
            terminal.wait_for("One.")
            say(terminal, "\x1b[200~pine\nyew\x1b[201~")
            terminal.wait_for("Two.")
            assert leave(terminal) == 0
        with sit_down(tmp_path, model, "--continue") as terminal:
            terminal.wait_for("> pine\nyew")  # the last messages are shown
            terminal.wait_for("Two.")
            terminal.wait_for_screen("default mode")
            terminal.type(f"\x1b[A{ENTER}")
            terminal.wait_for("Three.")
        contents = [request.body["messages"][-1]["content"] for request in model.requests]
    assert contents == ["oak\nash\nelm", "pine\nyew", "pine\nyew"]
    assert os.stat(tmp_path / ".data" / "chat_history").st_mode & 0o077 == 0


def test_a_conversation_is_undone_forked_exported_and_found_again(tmp_path: Path) -> None:
    replies = [
        "First answer.",
        "Second answer.",
        Reply(text="Third answer.", usage=Usage(1000, 50)),
        "Fourth.",
    ]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model, "--session", "mine") as terminal:
        say(terminal, "one")
        terminal.wait_for("First answer.")
        say(terminal, "/cost")
        terminal.wait_for(" tokens in 1 run.")
        say(terminal, "two")
        terminal.wait_for("Second answer.")
        say(terminal, "/undo")
        terminal.wait_for("Your last message is in the input again")
        terminal.type(f" again{ENTER}")
        terminal.wait_for("Third answer.")
        contents = [message["content"] for message in model.requests[2].body["messages"][2:]]
        assert contents == ["one", "First answer.", "two again"]
        say(terminal, "/cost")
        terminal.wait_for("This session: 1050 tokens")
        say(terminal, "/export out.md")
        terminal.wait_for("Written to out.md.")
        say(terminal, "/export out.md")
        terminal.wait_for("out.md exists already.")
        say(terminal, "/fork")
        terminal.wait_for_screen("▸ 1. Here: with all messages")
        terminal.type(f"2{ENTER}")
        terminal.wait_for("Forked: one (fork).")
        terminal.wait_for_screen("> two again")
        terminal.type(f"{CTRL_C}three{ENTER}")
        terminal.wait_for("Fourth.")
        contents = [message["content"] for message in model.requests[3].body["messages"][2:]]
        assert contents == ["one", "First answer.", "three"]
        say(terminal, "/sessions Third")
        terminal.wait_for_screen("▸ 1. one")
        terminal.type(ENTER)
        terminal.wait_for("── one ──")
        terminal.wait_for("Third answer.", 2)
    exported = (tmp_path / "out.md").read_text()
    assert exported.startswith("# one\n\n## You\n\none\n")
    assert "two again" in exported
    assert "Second answer." not in exported


def test_what_is_piped_in_leaves_the_keyboard_to_questions(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"+ elm\n")
    os.close(writing)
    with ScriptedServer([write("a.txt"), "Reviewed."]) as model:
        with sit_down(tmp_path, model, "review", stdin=reading) as terminal:
            os.close(reading)
            terminal.wait_for_screen("▸ 1. Yes")
            terminal.type(ENTER)
            terminal.wait_for("Reviewed.")
            assert terminal.wait() == 0
        sent = model.requests[0].body["messages"][-1]["content"]
    assert sent == 'review\n\n<file name="stdin">\n+ elm\n\n</file>'
    assert (tmp_path / "a.txt").read_text() == "oak\n"


START = {"when": "start it", **call("scribe", query="write it", background=True)}
WRITE = {"when": "write it", **write("a.txt")}


def hire_scribe(folder: Path) -> None:
    (folder / "agents").mkdir()
    text = "---\ndescription: Writes.\ntools: [write_file, read_file]\n---\nYou write.\n"
    (folder / "agents" / "scribe.md").write_text(text)


def test_task_that_a_terminal_left_continues_in_the_next_one_and_is_answered_there(tmp_path: Path) -> None:
    hire_scribe(tmp_path)
    replies = [START, WRITE, {"when": "works in the background", "text": "It has begun."}, "Written."]
    with ScriptedServer(replies) as model:
        with sit_down(tmp_path, model, "--session", "mine") as terminal:
            say(terminal, "/tasks")
            terminal.wait_for("No background tasks.")
            say(terminal, "start it")
            terminal.wait_for("scribe works in the background as ")
            terminal.wait_for("scribe asks in the background: /tasks answers.")
            terminal.wait_for("It has begun.")
            assert leave(terminal) == 0
            assert "Not ended yet: ses_" in terminal.text
        with sit_down(tmp_path, model, "--session", "mine") as terminal:
            say(terminal, "/tasks")
            terminal.wait_for_screen("▸ 1. Yes")
            assert "scribe, waiting, began" in terminal.text
            terminal.type(ENTER)
            terminal.wait_for("scribe is done in the background.")
            assert leave(terminal) == 0
    assert (tmp_path / "a.txt").read_text() == "oak\n"


def write_folder(workspace: Path, version: str) -> None:
    folder = workspace / "extensions" / "orders"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "extension.py").write_text(
        "from dovetail import tool\n\n@tool(kind='read')\ndef order_item(item: str) -> str:\n"
        f'    """Order an item."""\n    return {version}\n'
    )


def test_an_open_chat_reloads_edited_folders_before_it_sends_a_message(tmp_path: Path) -> None:
    order = call("order_item", item="oak")
    replies = ["Hello.", order, "First order.", order, "Second order."]
    with ScriptedServer(replies) as model, sit_down(tmp_path, model, size=(160, 50)) as terminal:
        say(terminal, "hello")
        terminal.wait_for("Hello.")
        write_folder(tmp_path, '"ordered once"')
        say(terminal, "order oak")
        terminal.wait_for("First order.")
        assert "Reloaded: orders\n" in terminal.screen
        assert "ordered once" in terminal.screen
        write_folder(tmp_path, "(")
        say(terminal, "again")
        terminal.wait_for("Second order.")
        assert "Reloaded: orders (failed)\n" in terminal.screen
        assert "extension.py:6); the last good version stays" in terminal.screen.replace("\n", "")
        assert terminal.screen.count("ordered once") == 2
        assert leave(terminal) == 0
    assert "Reloaded" not in terminal.text.partition("Hello.")[0]


def test_a_session_that_is_answered_in_another_terminal_says_what_to_do(tmp_path: Path) -> None:
    gate = Gate()
    with (
        ScriptedServer([{"steps": ["One ", gate, "answer."]}]) as model,
        sit_down(tmp_path, model, "--session", "mine") as first,
        sit_down(tmp_path, model, "--session", "mine") as second,
    ):
        say(first, "Begin.")
        first.wait_for_screen("One")
        say(second, "Me too.")
        second.wait_for("is busy")
        second.wait_for("begin another one with /new")
        gate.open()
        first.wait_for("One answer.")
        assert (leave(first), leave(second)) == (0, 0)
