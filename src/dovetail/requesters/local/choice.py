"""The choice of a tool as a ranking: how much the model leans to each name, tools and ways to answer alike.

The prompt lists the tools, one short line each, between named ways to answer: a small model chooses better
among them than between a tool and none. Its reply is begun for it up to the name, so that the odds of the
next token rank all names at once. Names that begin alike differ in the tokens that follow.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from dovetail.data.shapes import is_mapping
from dovetail.events.call import ToolSpec
from dovetail.requesters.content import read_text
from dovetail.requesters.local.fit import Token, shorten
from dovetail.requesters.local.messages import TextMessage, name_calls

KNOWLEDGE = {"general_knowledge": "facts that everybody can know"}
TALK = {
    "small_talk": "greetings, thanks, questions about you",
    "write_text": "write, translate or explain something",
    "write_code": "write code",
}
TELL = "tell_user"

LONGEST_RESULT = 300
"""Characters of a result that the choice of the next tool is based on."""
MOST_STEPS = 3
"""Tokens that are read to distinguish names that begin alike."""
_NEAR = 6.0
_HEAD = '{"tool": "'
Score = Callable[[list[TextMessage]], Awaitable[list[Token]]]
"""Ask for the next token after these texts, with what else it might have been."""


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """Return the part of the system text that lists the tools and asks for a choice."""
    form = '{"tool": "name", "arguments": {...}}'
    return "\n".join(
        [
            "# Tools",
            *_list_ways(KNOWLEDGE),
            *(f"- {_sign(tool)}: {shorten(tool.description)}" for tool in tools),
            *_list_ways({**TALK, TELL: "tell the user what a tool gave"}),
            "",
            f"Every reply begins with a JSON line that names the tool for it: {form}.",
        ]
    )


def _list_ways(ways: Mapping[str, str]) -> list[str]:
    return [f"- {name}(): {use}" for name, use in ways.items()]


def _sign(tool: ToolSpec) -> str:
    # Types and notes are left out: each word takes time to read, and the arguments have their own prompt.
    properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
    return f"{tool.name}({', '.join(_sign_parameter(*each) for each in properties.items())})"


def _sign_parameter(name: str, schema: Any) -> str:
    has_default = is_mapping(schema) and "default" in schema
    return f"{name}={json.dumps(schema['default'], ensure_ascii=False)}" if has_default else name


def choose_ways(tools: Sequence[ToolSpec], *, has_result: bool) -> list[str]:
    """Return the ways to answer: after a result to report it, otherwise all others; names of tools win."""
    names = {tool.name for tool in tools}
    ways = [TELL] if has_result else [*KNOWLEDGE, *TALK]
    return [way for way in ways if way not in names]


def build_choice_texts(
    instructions: str, tools: Sequence[ToolSpec], question: str, steps: Sequence[Mapping[str, Any]] = ()
) -> list[TextMessage]:
    """Return the texts before a choice: the list of tools, the question, and the calls and results after it.

    All before the question is the same in every chat with these tools, and so stays cached.
    """
    system = "\n\n".join(text for text in (instructions, describe_tools(tools)) if text)
    texts: list[TextMessage] = [
        {"role": "system", "content": system},
        {"role": "user", "content": question},
    ]
    names = name_calls(steps)
    for step in steps:
        if calls := step.get("tool_calls"):
            lines = [write_call(call["function"]["name"], call["function"]["arguments"]) for call in calls]
            texts.append({"role": "assistant", "content": "\n".join(lines)})
        elif step["role"] == "tool":
            name = names.get(step.get("tool_call_id", ""), "the tool")
            result = read_text(step.get("content"))[:LONGEST_RESULT]
            texts.append({"role": "user", "content": f"Result of {name}: {result}"})
    return texts


def write_call(name: str, arguments: str) -> str:
    """Return a call as the model writes it."""
    return f'{{"tool": {json.dumps(name, ensure_ascii=False)}, "arguments": {arguments or "{}"}}}'


async def score_names(texts: Sequence[TextMessage], names: Sequence[str], score: Score) -> dict[str, float]:
    """Return the log-probability with which the model would begin each name."""
    return await _score_from(texts, names, "", score, MOST_STEPS)


async def _score_from(
    texts: Sequence[TextMessage], names: Sequence[str], begun: str, score: Score, steps: int
) -> dict[str, float]:
    tokens = await score([*texts, {"role": "assistant", "content": _HEAD + begun}])
    others = tokens[0].others if tokens else ()
    least = min((odds for _, odds in others), default=0.0)
    scores = dict.fromkeys(names, least)
    best = max((odds for _, odds in others), default=0.0)
    seen: set[str] = set()
    for text, odds in others:
        alike = [name for name in names if text and name not in seen and f'{name}"'.startswith(begun + text)]
        seen.update(alike)
        if len(alike) == 1 or steps <= 1 or odds < best - _NEAR:
            scores |= dict.fromkeys(alike, odds)
        elif alike:
            further = await _score_from(texts, alike, begun + text, score, steps - 1)
            scores |= {name: odds + more for name, more in further.items()}
    return scores


def find_leads(scores: Mapping[str, float], ways: Sequence[str]) -> dict[str, float]:
    """Return how far each name is ahead of the best way to answer, the best first."""
    to_beat = max((scores[way] for way in ways if way in scores), default=0.0)
    ranked = sorted(scores.items(), key=lambda each: each[1], reverse=True)
    return {name: odds - to_beat for name, odds in ranked if name not in ways}
