"""The conversation as an embedded model reads it: system, user and assistant texts, and nothing about tools.

A small model that reads a list of tools before a plain question answers it worse, or not at all. So the
choice of a tool and its arguments have prompts of their own (`choice.py`, `arguments.py`), and the answer is
written by the prompt that a request without tools has. A result stands below the question it belongs to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.data.circumstances import keep_asked
from dovetail.errors import ModelError
from dovetail.events.call import ChatMessage, ToolSpec
from dovetail.requesters.content import build_messages, read_text, settle_attachments
from dovetail.requesters.local.wishes import (
    asks_for_tools,
    asks_who,
    find_mentions,
    find_skills,
    has_skill,
    is_skill,
    wants_form,
)

ANSWER_WITH_RESULT = "Answer my question with this result, in one or two sentences."
ANSWER_IN_FORM = "Answer my question with this result, in the form that is asked for."
ANSWER_WITH_SKILL = "Now do with this result what the skill says, in full sentences."
ANSWER_AS_SKILL = "Now answer my question as this skill says."
ANSWER_WITH_ERROR = "Tell me in one sentence what went wrong."
_SYSTEM = ("system", "developer")
TextMessage = dict[str, str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, apart from its system texts: the first of them, and what the question needs of others.

    Lines about time and place are left out unless the question is about them.
    """

    instructions: str
    circumstances: str
    messages: Sequence[Mapping[str, Any]]

    @property
    def question(self) -> str:
        """The text of the user's last message."""
        return find_last_question(self.messages)

    @property
    def wish(self) -> str:
        """The text of the user's last message with the skills that it names from earlier ones."""
        texts = [read_text(message.get("content")) for message in self.messages]
        skills = {name: skill for text in texts for name, skill in find_skills(text)}
        named = [skills[name] for name in find_mentions(self.question) if name in skills]
        return "\n".join([self.question, *named])

    @property
    def steps(self) -> Sequence[Mapping[str, Any]]:
        """The messages after the user's last one: calls and results."""
        users = [place for place, message in enumerate(self.messages) if message["role"] == "user"]
        return self.messages[users[-1] + 1 :] if users else self.messages

    def build_texts(self, tools: Sequence[ToolSpec] = ()) -> list[TextMessage]:
        """Return the texts that the model reads when it answers."""
        turns = self.build_turns(asks=True)
        if tools and turns and turns[-1]["role"] == "user" and asks_for_tools(self.question):
            turns[-1]["content"] += f"\n\n(Your tools: {', '.join(tool.name for tool in tools)}.)"
        system = "\n\n".join(text for text in (self.instructions, self.circumstances) if text)
        head: list[TextMessage] = [{"role": "system", "content": system}] if system else []
        return [*head, *turns]

    def build_turns(self, *, asks: bool) -> list[TextMessage]:
        """Return user and assistant texts in turn; with `asks`, a wish for an answer follows a result."""
        return _join_turns(self.messages, name_calls(self.messages), asks=asks)


def read_conversation(messages: Sequence[ChatMessage], model: str = "The embedded model") -> Conversation:
    """Read the messages of a request; raise if the newest has an attachment, which the model cannot read."""

    def refuse(part: Mapping[str, Any]) -> None:
        raise ModelError(
            f"{model} reads text only, but the message contains: {part['type']}.",
            provider="local",
            hint="Use another model: set DOVETAIL_MODEL or model.name.",
        )

    built = build_messages(settle_attachments(messages, refuse))
    first, *further = [read_text(each.get("content")) for each in built if each["role"] in _SYSTEM] or [""]
    question = find_last_question(built)
    kept = "\n\n".join(text for each in further if (text := keep_asked(each, question)))
    return Conversation(first, kept, [each for each in built if each["role"] not in _SYSTEM])


def introduce(messages: Sequence[ChatMessage], introduction: str, origin: str) -> Sequence[ChatMessage]:
    """Return messages with a system text, and with who made the model if the last question is about that."""
    if all(message["role"] not in _SYSTEM for message in messages):
        messages = [{"role": "system", "content": introduction}, *messages]
    if origin and asks_who(find_last_question(messages)):
        messages = [*messages, {"role": "developer", "content": origin}]
    return messages


def find_last_question(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the user's last message."""
    return next((read_text(each.get("content")) for each in reversed(messages) if each["role"] == "user"), "")


def name_calls(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the names of the called tools by the ids of the calls."""
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return {call["id"]: call["function"]["name"] for call in calls}


def is_error(text: str) -> bool:
    """Return whether the result of a tool says that the call failed."""
    return text.startswith("Error:")


def _join_turns(
    messages: Sequence[Mapping[str, Any]], names: Mapping[str, str], *, asks: bool
) -> list[TextMessage]:
    """Return the turns, each result below the question before it; calls themselves are left out."""
    turns: list[TextMessage] = []
    result: str | None = None
    question = ""
    for message in messages:
        text = read_text(message.get("content"))
        if message["role"] == "tool":
            result = text
            name = names.get(message.get("tool_call_id", ""), "a tool")
            _append(turns, "user", f"Result of {name}:\n{text}")
        elif message["role"] == "assistant":
            if message.get("tool_calls") and not text:
                continue
            if not message.get("tool_calls"):
                _ask_for_answer(turns, question, result)
                result = None
            _append(turns, "assistant", text)
        else:
            question = text
            _append(turns, "user", text)
    if asks:
        _ask_for_answer(turns, question, result)
    return turns


def _append(turns: list[TextMessage], role: str, text: str) -> None:
    if turns and turns[-1]["role"] == role:
        turns[-1]["content"] += f"\n\n{text}"
    else:
        turns.append({"role": role, "content": text})


def _ask_for_answer(turns: list[TextMessage], question: str, result: str | None) -> None:
    # Without it, a small model often thanks for the result or refuses instead of reporting it.
    if result is None or not turns or turns[-1]["role"] != "user":
        return
    if is_error(result):
        wish = ANSWER_WITH_ERROR
    elif is_skill(result):
        wish = ANSWER_AS_SKILL
    elif has_skill(question):
        wish = ANSWER_WITH_SKILL
    else:
        wish = ANSWER_IN_FORM if wants_form(question) else ANSWER_WITH_RESULT
    turns[-1]["content"] += f"\n\n{wish}"
