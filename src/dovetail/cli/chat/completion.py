"""Completion in the chat: commands after `/`, what may follow them, and files after `@`."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from dovetail.cli.chat.commands import COMMANDS, Choice
from dovetail.cli.chat.mentions import list_files
from dovetail.data.text import cut

_COMMAND = re.compile(r"/([a-z]*)")
_ARGUMENT = re.compile(r"/([a-z]+) +(\S*)")
_FILE = re.compile(r'(?:^|\s)@(?:"([^"]*)|(\S*))$')
_MOST_FOUND = 30
_LONGEST_MEANING = 60


class ChatCompleter(Completer):
    """Completes what is typed in the chat; `list_choices` returns what may follow a command."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: list[str] | None = None
        self.list_choices: Callable[[str], Sequence[Choice]] = lambda name: ()

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the completions at the cursor."""
        before = document.text_before_cursor
        if match := _COMMAND.fullmatch(before):
            yield from self._complete_command(match[1])
        elif match := _ARGUMENT.fullmatch(before):
            yield from self._complete_argument(match[1], match[2])
        elif match := _FILE.search(before):
            typed = match[1] if match[1] is not None else match[2]
            yield from self._complete_file(
                typed, before[match.start() :].index("@") + match.start() - len(before)
            )
        else:
            self._files = None  # the next mention looks again

    def _complete_command(self, typed: str) -> Iterable[Completion]:
        for command in sorted(COMMANDS, key=lambda each: each.name != typed):
            if command.name.startswith(typed):
                text = f"/{command.name}{' ' if command.words else ''}"
                shown = f"/{command.name} {command.words}".rstrip()
                yield Completion(text, -len(typed) - 1, display=shown, display_meta=command.summary)

    def _complete_argument(self, name: str, typed: str) -> Iterable[Completion]:
        for choice, meaning in sorted(self.list_choices(name), key=lambda each: each[0] != typed):
            if typed.casefold() in choice.casefold():
                yield Completion(
                    choice, -len(typed), display_meta=cut(" ".join(meaning.split()), _LONGEST_MEANING)
                )

    def _complete_file(self, typed: str, start: int) -> Iterable[Completion]:
        if self._files is None:
            self._files = list_files(self._root)
        for path in find_files(typed, self._files)[:_MOST_FOUND]:
            yield Completion(f'@"{path}" ' if " " in path else f"@{path} ", start, display=path)


def find_files(typed: str, files: Sequence[str]) -> list[str]:
    """Return the files that contain the letters that were typed in their order, the best first."""
    wanted = typed.casefold()
    letters = re.compile(".*?".join(map(re.escape, wanted)))
    ranked = [
        (_rank(wanted, path.casefold(), found.end() - found.start()), len(path), path)
        for path in files
        if (found := letters.search(path.casefold())) is not None
    ]
    return [path for *_, path in sorted(ranked)]


def _rank(wanted: str, path: str, span: int) -> int:
    name = path.rpartition("/")[2]
    if name.startswith(wanted) or path.startswith(wanted):
        return 0
    return 1 if wanted in name else 2 if wanted in path else 2 + span
