"""Completion of commands, of what follows them, and of files."""

from pathlib import Path

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from dovetail.cli.chat.completion import ChatCompleter, find_files


def complete(completer: ChatCompleter, text: str) -> list[tuple[str, int]]:
    found = completer.get_completions(Document(text), CompleteEvent())
    return [(each.text, each.start_position) for each in found]


def test_commands_and_what_follows_them_are_completed(tmp_path: Path) -> None:
    completer = ChatCompleter(tmp_path)
    completer.list_choices = lambda name: [("plan", "only read"), ("auto", "")] if name == "mode" else []
    assert complete(completer, "/mo") == [("/model ", -3), ("/mode ", -3)]
    assert complete(completer, "/mode") == [("/mode ", -5), ("/model ", -5)]  # the one in full comes first
    assert complete(completer, "/hel") == [("/help", -4)]
    assert complete(completer, "/mode PL") == [("plan", -2)]
    assert complete(completer, "/skill/x") == []
    assert complete(completer, "see /mo") == []


def test_files_are_completed_after_an_at_sign(tmp_path: Path) -> None:
    (tmp_path / "my notes.md").write_text("")
    (tmp_path / "main.py").write_text("")
    completer = ChatCompleter(tmp_path)
    assert complete(completer, "see @mai") == [("@main.py ", -4)]
    assert complete(completer, "see @notes") == [('@"my notes.md" ', -6)]
    assert complete(completer, "ann@mai") == []


def test_the_best_file_comes_first() -> None:
    files = ["docs/chat.md", "src/cli/chat.py", "chat.md", "src/catch_all_things.py"]
    assert find_files("chat", files) == [
        "chat.md",
        "docs/chat.md",
        "src/cli/chat.py",
        "src/catch_all_things.py",
    ]
    assert find_files("xyz", files) == []
