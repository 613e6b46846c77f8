"""Whether a tool fits a request, in numbers.

A small model that must name a tool takes one for something similar, or answers what it should look up. Asked
about one tool alone, with examples before the question, it is right far more often. So its choice is only a
ranking: the tools near the top are weighed one by one, and the best one is called if it fits.

Whether a collection of texts holds the answer cannot be judged by its description. A tool that searches the
documents of a product or a company is weighed by what the request is about: ours, or the world in general.
"""

import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.events.call import ChatMessage, ToolSpec
from dovetail.requesters.content import read_text
from dovetail.requesters.local.messages import TextMessage
from dovetail.requesters.local.wishes import asks_about_tool, has_skill, names_tool, remove_skills

MOST_CANDIDATES = 3
NEAR = 4.5
"""How far behind the best way to answer a tool may be, in log-probability, to be weighed at all."""
AHEAD = 0.5
"""How far ahead of the ways to answer a tool is as good as named; another needs a word that speaks for it."""
FAR = 3.0
"""How far behind a tool that fits another one may be to be weighed against it."""
SURE = 1.0
"""Odds to fit, as logarithms like all odds here, from which on no further tool is weighed."""
LEAD_COUNTS = 0.4
"""How much the lead of a tool adds to its odds when several fit."""
FAR_AHEAD = 2.5
NAMED_AHEAD = 5.0
CHOSEN_NEEDS = -0.9
OTHERS_NEED = 0.5
NAMED_NEEDS = -3.0
LIBRARY_NEEDS = 1.3
TOPIC_NEEDS = 0.0
"""Odds that a tool needs to be called: one that is far ahead of the ways to answer, any other, one that the
question names, and one that searches documents, by what the request is about: fewer if its description and
the request have a word in common."""

LONGEST_DESCRIPTION = 100
SHORT_QUESTION = 40
LONGEST_QUESTION = 600
SCORES = {"logprobs": True, "top_logprobs": 20}
"""The options that make the engine report what else it might have written."""

_MANUAL = "search_manual: Search the manual."
_EXAMPLES = (
    ("How tall is Mount Everest?", _MANUAL, "no"),
    ("How do I pair the remote control?", _MANUAL, "yes"),
    ("Dim the kitchen lights to 40%.", "set_light: Change the brightness of a lamp.", "yes"),
    (
        "Compute the volume of a sphere with radius 3.",
        "cylinder_volume: Compute the volume of a cylinder.",
        "no",
    ),
    (
        "Find trains from Rome to Milan on 3 May.",
        "find_trains: Search connections between two stations.",
        "yes",
    ),
    ("Is Bluetooth supported?", _MANUAL, "yes"),
    ("Book a table for two at Luigi's.", "find_restaurants: List restaurants near a place.", "no"),
    ("Explain setup.cfg", "open_file: Open a file.", "yes"),
    ("Write a slogan for a shoe shop.", _MANUAL, "no"),
    ("What is the best way to learn chess?", "chess_rating: Get the rating of a player.", "no"),
    ("How many devices does the basic plan allow?", _MANUAL, "yes"),
)
EXAMPLE = ToolSpec(name="set_light", description="Change the brightness of a lamp.", parameters={})
_TASK = "Say whether a tool does what a request asks for. A tool for something similar does not fit."
_ABOUT_EXAMPLES = (
    ("How tall is Mount Everest?", "general"),
    ("How do I pair the remote control?", "ours"),
    ("Write a slogan for a shoe shop.", "general"),
    ("Is Bluetooth supported?", "ours"),
    ("Who invented the telephone?", "general"),
    ("How many devices does the basic plan allow?", "ours"),
    ("Fix this sentence: he go home.", "general"),
    ("What does warning W12 mean?", "ours"),
    ("Write a loop in C that prints 1 to 10.", "general"),
    ("Where are the backups kept?", "ours"),
    ("At what temperature does iron melt?", "general"),
    ("What does --force do?", "ours"),
    ("When was the French Revolution?", "general"),
    ("How do I rename a project?", "ours"),
    ("Hi, how are you?", "general"),
    ("Where can visitors park?", "ours"),
    ("Think of two titles for a novel.", "general"),
    ("Can I change the language later?", "ours"),
    ("What are you good at?", "general"),
    ("Why is the upload slow?", "ours"),
    ("Write a Java class for a stack.", "general"),
    ("What is the maximum size of an attachment?", "ours"),
)
_ABOUT_TASK = (
    "Say what a request is about: ours (our product and company: its use, settings, plans, limits, errors, "
    "files and rules), or general (facts of the world, small talk, writing, ideas, code in general)."
)
_WORD = re.compile(r"[a-z]{3,}")
_STEM = 5
"""Letters that must agree, so that `file` and `files` count as the same word."""
_COMMON = re.compile(
    r"about|all|and|any|are|array|boolean|can|default|description|did|does|enum|"
    r"for|from|get|give|has|have|how|integer|into|its|let|like|make|maximum|"
    r"minimum|minlength|maxlength|much|many|name|need|not|number|object|one|only|"
    r"other|our|out|please|required|return|say|set|should|show|some|string|such|"
    r"tell|text|than|that|the|their|them|then|there|these|this|title|two|type|use|"
    r"used|user|value|was|what|when|where|which|who|whole|why|will|with|without|"
    r"would|write|you|your"
)
_FILE_NAME = re.compile(r"(?<![/.\w])[\w-]+\.[a-z]{1,5}\b(?!/)")
_FILE_VERBS = {
    "write": re.compile(r"(?i)\b(write|save|put|store)\b|写|保存"),
    "read": re.compile(r"(?i)\b(read|open|explain|summari[sz]e)\b|读|打开"),
}
"""What people say when they want a file to be written or read, by the word in the name of the tool."""
_LEAST = 1e-6
Weigh = Callable[[str, ToolSpec], Awaitable[float]]
"""Return the logarithm of the odds that a tool does what a question asks for."""
_TEXTS = "docs?|documentation|documents|manual|handbook|guide|faq|help|knowledge base"
_LIBRARY = re.compile(rf"(?i)\b(search|look up|query)\b.*\b({_TEXTS})\b")


@dataclass(frozen=True, slots=True)
class Token:
    """A written token, and the log-probabilities of the texts that might stand in its place."""

    text: str
    others: tuple[tuple[str, float], ...]


def read_tokens(choice: Mapping[str, Any]) -> list[Token]:
    """Read the tokens of one choice in a piece of the engine's output, if it has any."""
    logprobs: Mapping[str, Any] = choice.get("logprobs") or {}
    written: Sequence[Mapping[str, Any]] = logprobs.get("content") or ()
    return [Token(each["token"], _read_others(each["top_logprobs"])) for each in written]


def _read_others(others: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, float], ...]:
    return tuple((other["token"], other["logprob"]) for other in others)


def shorten(text: str) -> str:
    """Return the first paragraph of a description on one line: its first sentences, or the first words."""
    line = " ".join(text.strip().split("\n\n")[0].split())
    if len(line) <= LONGEST_DESCRIPTION:
        return line
    sentences = line[: LONGEST_DESCRIPTION + 1].rfind(". ")
    return line[: sentences + 1] if sentences > 0 else line[: LONGEST_DESCRIPTION - 1].rstrip() + "…"


def build_fit_texts(question: str, tool: ToolSpec) -> list[TextMessage]:
    """Return the question whether a tool fits; all but its end is always the same, and so stays cached."""
    examples = [f"Request: {request}\nTool: {line}\nFits: {answer}" for request, line, answer in _EXAMPLES]
    line = f"{tool.name}: {shorten(tool.description)}"
    return [
        {"role": "system", "content": "\n\n".join([_TASK, *examples])},
        {"role": "user", "content": f"Request: {question}\nTool: {line}"},
        {"role": "assistant", "content": "Fits:"},
    ]


def build_about_texts(question: str) -> list[TextMessage]:
    """Return the question what a request is about; all but its end is always the same."""
    examples = [f"Request: {request}\nAbout: {answer}" for request, answer in _ABOUT_EXAMPLES]
    return [
        {"role": "system", "content": "\n\n".join([_ABOUT_TASK, *examples])},
        {"role": "user", "content": f"Request: {question}"},
        {"role": "assistant", "content": "About:"},
    ]


def read_odds(tokens: Sequence[Token], for_it: str = "yes", against: str = "no") -> float:
    """Return the logarithm of the odds for one of two answers; 0 if the model considers neither."""
    sums = {for_it: _LEAST, against: _LEAST}
    for text, score in tokens[0].others if tokens else ():
        begun = text.strip().lower()
        for word in sums:
            if begun and word.startswith(begun):
                sums[word] += exp(score)
    return log(sums[for_it] / sums[against])


def find_question(messages: Sequence[ChatMessage]) -> str:
    """Return the last question of the user on one line, without its skills, which say how to answer.

    A short one may refer to the one before it, unless it has a skill.
    """
    asked = [read_text(message.get("content")) for message in messages if message["role"] == "user"]
    last = [remove_skills(text) for text in asked[-1:]]
    if last and len(last[0]) < SHORT_QUESTION and not has_skill(asked[-1]):
        last = [remove_skills(text) for text in asked[-2:]]
    return " ".join(" ".join(last).split())[-LONGEST_QUESTION:]


def may_fit(question: str, tool: ToolSpec, called: Iterable[ToolSpec] = ()) -> bool:
    """Return whether a question and a tool have a word in common, by its first letters, or a file.

    A word that is in the description of a tool that was called has had its answer.
    """
    properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
    described = _describe(tool) | _find_stems(json.dumps(properties, ensure_ascii=False).replace("_", " "))
    answered = set[str]().union(*map(_describe, called))
    is_alike = not described.isdisjoint(_find_stems(question) - answered)
    return is_alike or asks_for_file(question, tool)


def asks_for_file(question: str, tool: ToolSpec) -> bool:
    """Return whether a question wants a tool to write or read a file, and has the name of one."""
    verbs = [pattern for word, pattern in _FILE_VERBS.items() if word in tool.name]
    asks = any(pattern.search(question) for pattern in verbs)
    return asks and "file" in tool.name and _FILE_NAME.search(question) is not None


def is_named(question: str, tool: ToolSpec, lead: float) -> bool:
    """Return whether a question has a value of a tool's parameters, a file for it, or a clear leader's name.

    The more words a name has, the less it is there by chance.
    """
    name, said = _find_stems(tool.name.replace("_", " ")), _find_stems(question)
    is_said = name <= said and lead * len(name) >= NAMED_AHEAD
    return is_said or has_value(question, tool) or asks_for_file(question, tool)


def has_value(question: str, tool: ToolSpec) -> bool:
    """Return whether a question has one of the values that a parameter of a tool may have."""
    properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
    values = [
        value for schema in properties.values() if is_mapping(schema) for value in schema.get("enum") or ()
    ]
    words = " ".join(value.replace("_", " ") for value in values if isinstance(value, str))
    return not _find_stems(question).isdisjoint(_find_stems(words))


def _describe(tool: ToolSpec) -> set[str]:
    return _find_stems(f"{tool.name} {shorten(tool.description)}".replace("_", " "))


def _find_stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.lower()) if not _COMMON.fullmatch(word)}


def is_library(tool: ToolSpec) -> bool:
    """Return whether a tool searches the documents of a product or a company."""
    return _LIBRARY.search(f"{tool.name.replace('_', ' ')} {shorten(tool.description)}") is not None


def find_need(question: str, tool: ToolSpec, lead: float = 0.0) -> float:
    """Return the odds that a tool needs to be called, by its lead in the ranking."""
    if is_named(question, tool, lead):
        return NAMED_NEEDS
    if is_library(tool):
        topics = _find_stems(shorten(tool.description))
        return LIBRARY_NEEDS if topics.isdisjoint(_find_stems(question)) else TOPIC_NEEDS
    return CHOSEN_NEEDS if lead >= FAR_AHEAD else OTHERS_NEED


async def find_fitting(
    question: str, message: str, leads: Sequence[tuple[ToolSpec, float]], weigh: Weigh
) -> ToolSpec | None:
    """Return the tool that fits best, or none: the best by name are weighed until one surely fits.

    A tool that the message wants called, itself or by its skill, fits unless much speaks against it. If none
    does, the documents are searched for a request that is about them.
    """
    leads = [(tool, lead) for tool, lead in leads if not asks_about_tool(message, tool.name)]
    named = {tool.name for tool, _ in leads if names_tool(message, tool.name)}
    best, best_score, best_lead = None, -inf, -inf
    for tool, lead in _list_candidates(question, leads, named):
        if lead < best_lead - FAR:
            break
        odds = await weigh(question, tool)
        if odds < (NAMED_NEEDS if tool.name in named else find_need(question, tool, lead)):
            continue
        if (score := odds + LEAD_COUNTS * lead) > best_score:
            best, best_score, best_lead = tool, score, lead
        if odds >= SURE:
            break
    if best is not None:
        return best
    library = next(((tool, lead) for tool, lead in leads if is_library(tool)), None)
    if library is not None and await weigh(question, library[0]) >= find_need(question, *library):
        return library[0]
    return None


def _list_candidates(
    question: str, leads: Sequence[tuple[ToolSpec, float]], named: Collection[str]
) -> list[tuple[ToolSpec, float]]:
    """Return the tools to weigh, those first that the message wants called."""
    wanted = [(tool, lead) for tool, lead in leads if tool.name in named]
    others = [
        (tool, lead)
        for tool, lead in leads
        if tool.name not in named
        and not is_library(tool)
        and (lead >= AHEAD or (lead > -NEAR and may_fit(question, tool)))
    ]
    return [*wanted, *others][:MOST_CANDIDATES]
