"""What a chat or a task reads about its time and place, and which of it a question asks for.

A large model reads these lines with every conversation. A small one answers plain questions better and sooner
without them, so it gets a line only with a question about time or place.
"""

import re
from datetime import datetime

_START = re.compile(r"This \w+ began on ")
_PLACE = re.compile(r"(The folder you work in is called|Your project is the folder) ")
_TIME_WORDS = re.compile(
    r"\b(today|tonight|tomorrow|yesterday|now|date|day|days|week|weeks|month|year|time|clock|current|currently|"
    r"morning|evening|weekday|monday|tuesday|wednesday|thursday|friday|saturday|sunday|ago|since|until|next|last|"
    r"remind|schedule|heute|morgen|gestern|datum)\b|[今明昨]天|现在|日期|时间|星期|几点|几号",
    re.IGNORECASE,
)
_PLACE_WORDS = re.compile(r"\b(folder|directory|workspace|project)\b|文件夹|目录|项目", re.IGNORECASE)


def describe_start(what: str, moment: datetime, zone: str) -> str:
    """Return the line that says when a chat or a task began.

    >>> describe_start("conversation", datetime(2026, 11, 18, 9, 30), "UTC")
    'This conversation began on Wednesday, 2026-11-18 at 09:30 (UTC).'
    """
    return f"This {what} began on {moment:%A, %Y-%m-%d at %H:%M} ({zone})."


def describe_place(workspace: str, project: str | None = None) -> str:
    """Return the line that says which folder a chat works in.

    >>> describe_place("shop")
    "The folder you work in is called 'shop'."
    """
    if project is None:
        return f"The folder you work in is called {workspace!r}."
    return f"Your project is the folder {project!r} of the workspace {workspace!r}."


def keep_asked(text: str, question: str) -> str:
    """Return a text without the lines about time and place that a question does not ask for.

    >>> keep_asked("This task began on Monday.\\nAnswer in rhymes.", "Who wrote Hamlet?")
    'Answer in rhymes.'
    >>> keep_asked("This task began on Monday.\\nAnswer in rhymes.", "What day is it?")
    'This task began on Monday.\\nAnswer in rhymes.'
    """
    lines = text.split("\n")
    return "\n".join(line for line in lines if _is_asked(line, question)).strip("\n")


def _is_asked(line: str, question: str) -> bool:
    if _START.match(line):
        return _TIME_WORDS.search(question) is not None
    return _PLACE.match(line) is None or _PLACE_WORDS.search(question) is not None
