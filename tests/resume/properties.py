"""The six properties of the matrix, checked from the outside: over HTTP, in the ledger, at the model.

1 prefix continuation, 2 effects exactly once, 3 fork determinism, 4 checkpoint validity, 5 answers consumed
once, 6 recovery determinism.
"""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dovetail.events.call import ToolCall
from dovetail.sessions.parts import fold_parts
from faults.checks import check_journal, check_view, read_entry
from resume.model import Asked, Message, Model, read_id, read_text, say
from resume.reader import Entry
from resume.story import CHILD, JOB, STEER, Story

NAMES = (
    "prefix continuation",
    "effects exactly once",
    "fork determinism",
    "checkpoint validity",
    "answers consumed once",
    "recovery determinism",
)
Problems = list[tuple[int, str]]
LEDGER_TOOLS = ("note", "spend")


async def find_problems(story: Story) -> Problems:
    """Return what does not hold, each with the number of its property."""
    journals = [await read_journal(story, run_id) for run_id in (story.run_id, *story.other_runs)]
    message = await _get_answer(story)
    asked = skip_void(story.world.model.asked)
    found: Problems = list(story.problems)
    found += [(1, problem) for problem in check_prefix(story, message, asked)]
    found += [(2, problem) for problem in check_effects(story, journals, asked)]
    found += [(4, problem) for journal in journals for problem in check_journal(journal)]
    found += [(4, problem) for problem in await check_stored(story)]
    found += [(5, problem) for problem in check_answers(story, journals)]
    found += [(6, problem) for problem in check_conversation(story.world.model, asked, story.news)]
    found += [(3, problem) for problem in await check_forks(story)]
    return found


def skip_void(asked: Sequence[Asked]) -> list[Asked]:
    """Leave out requests with a result that was not stored when the process died: it counts as unknown."""
    last = [one for one in asked if one.job == JOB][-1]
    lost = {item["tool_call_id"] for item in last.messages if item["role"] == "tool" and _is_unknown(item)}
    return [one for one in asked if not any(_has_result(item, lost) for item in one.messages)]


def _has_result(message: Message, call_ids: set[str]) -> bool:
    return message.get("tool_call_id") in call_ids and not _is_unknown(message)


def _is_unknown(message: Message) -> bool:
    return "not known" in read_text(message)


async def read_journal(story: Story, run_id: str) -> list[Entry]:
    """Return all events of a run, as a new reader gets them."""
    return [entry async for entry in story.world.stream(f"/api/v1/runs/{run_id}/events")]


async def _get_answer(story: Story) -> dict[str, Any]:
    view = await story.world.get(f"/api/v1/sessions/{story.session_id}")
    return view["path"][-1]


def check_prefix(story: Story, message: dict[str, Any], asked: Sequence[Asked]) -> list[str]:
    """What was finished and shown before the fault is shown after it, to people and to the model."""
    problems = check_view("client", story.reader.entries, message)
    numbers = {entry["number"] for entry in story.reader.entries}
    shown = [entry for entry in story.shown if entry["number"] in numbers]  # the others were reported as void
    ends = [
        place
        for place, entry in enumerate(shown)
        if entry["type"] == "turn-end" and entry["path"] == [story.run_id]
    ]
    finished = fold_parts(map(read_entry, shown[: ends[-1] + 1])) if ends else []
    if not ends:
        problems.append("a turn that was finished and shown is void")
    if message["parts"][: len(finished)] != finished:
        problems.append(f"shown before the fault: {finished}; stored: {message['parts']}")
    return problems + check_requests(asked)


def check_requests(asked: Sequence[Asked]) -> list[str]:
    """Each request of a job begins with the request before it."""
    problems: list[str] = []
    for job in (JOB, CHILD):
        requests = [one for one in asked if one.job == job]
        for before, after in pairwise(requests):
            known = [item for item in before.messages if not _is_news(item)]
            if after.turn < before.turn or _skip_news(after.messages)[: len(known)] != known:
                problems.append(f"turn {after.turn} of {job!r} does not begin with turn {before.turn}")
    return problems


def check_effects(story: Story, journals: list[list[Entry]], asked: Sequence[Asked]) -> list[str]:
    """No effect twice, none missing for a call that went well, and each call ended as it should."""
    lines = story.world.workspace.read_effects()
    effects = Counter(line.key for line in lines)
    editions = [line.edition for line in lines if line.key == "z"]
    problems = [] if editions == [story.edition] else [f"the last call ran with the editions {editions}"]
    problems += [f"{key} had its effect {times} times" for key, times in effects.items() if times > 1]
    ended: dict[str, str] = {}
    for journal in journals:
        ended |= _find_ends(journal)
    for key, allowed in _expect_ends(story).items():
        status = ended.get(key, "missing")
        if status not in allowed:
            problems.append(f"call {key} ended as {status}, not as {' or '.join(sorted(allowed))}")
        if status == "ok" and key != CHILD and effects[key] != 1:
            problems.append(f"call {key} went well without an effect")
        if status == "denied" and effects[key]:
            problems.append(f"call {key} was denied and had an effect")
        if status == "interrupted" and not _was_called_unknown(key, asked):
            problems.append(f"the model was not informed that the effect of {key} is unknown")
    return problems


def _expect_ends(story: Story) -> dict[str, set[str]]:
    """Return how each call should end: one that was declined is denied."""
    declined = {answer.ask_id for answer in story.answers if answer.status == 200 and not answer.is_approved}
    denied = {key: {"denied"} for key, ask_id in story.asked.items() if ask_id in declined}
    return story.expected | denied


def _find_ends(journal: list[Entry]) -> dict[str, str]:
    """Return how each call of a journal ended, by its key."""
    made = {
        (*entry["path"], entry["call_id"]): entry for entry in journal if entry["type"] == "tool-input-end"
    }
    ends = [entry for entry in journal if entry["type"] == "tool-end"]
    return {_key_of(made[(*entry["path"], entry["call_id"])]): entry["status"] for entry in ends}


def _key_of(call: Entry) -> str:
    return call["args"].get("key") or call["args"].get("query", "")


def _was_called_unknown(key: str, asked: Sequence[Asked]) -> bool:
    said = (item for one in asked for item in one.messages)
    told = (item for item in said if read_id(item.get("tool_call_id", "")) == f"call-{key}")
    return any(map(_is_unknown, told))


async def check_stored(story: Story) -> list[str]:
    """Everything stored can be read, exported and imported again, and no question is left open."""
    world, problems = story.world, list(story.world.model.complaints)
    run = await world.get(f"/api/v1/runs/{story.run_id}")
    if (run["state"], run["reason"]) != ("ended", "goal"):
        problems.append(f"the run is {run['state']}, {run['reason']}: {run['error']}")
    if asks := (await world.get("/api/v1/asks"))["asks"]:
        problems.append(f"questions are left open: {asks}")
    session = f"/api/v1/sessions/{story.session_id}"
    if (await world.get(session))["run_id"]:
        problems.append("the session still has a run")
    for path in (f"{session}/messages", f"{session}/export?format=markdown", f"{session}/export?format=json"):
        response = await world.request("GET", path)
        if response.status_code != 200:
            problems.append(f"GET {path}: {response.text}")
    response = await world.request("POST", "/api/v1/sessions/import", json=json.loads(response.text))
    if response.status_code not in (200, 201):
        problems.append(f"the export cannot be imported: {response.text}")
    problems += await world.storage.find_damage()
    information = await world.run_command("store", "info")
    if "sessions:" not in information:
        problems.append(f"dovetail store info: {information}")
    return problems


def check_answers(story: Story, journals: list[list[Entry]]) -> list[str]:
    """Of the answers to one question exactly one is accepted, and it is the one that is acted on."""
    problems: list[str] = []
    for ask_id in {answer.ask_id for answer in story.answers}:
        given = [answer for answer in story.answers if answer.ask_id == ask_id]
        accepted = [answer for answer in given if answer.status == 200]
        if len(accepted) != 1 or any(answer.status not in (200, 409, 503) for answer in given):
            problems.append(f"{ask_id}: {[(answer.is_approved, answer.status) for answer in given]}")
        taken = [
            entry["value"]["approved"]
            for journal in journals
            for entry in journal
            if entry["type"] == "ask-answer" and entry["ask_id"] == ask_id
        ]
        if taken != [answer.is_approved for answer in accepted]:
            problems.append(f"{ask_id}: accepted {accepted}, taken {taken}")
    return problems


def check_conversation(model: Model, asked: Sequence[Asked], news: Sequence[str] = ()) -> list[str]:
    """The model's last request is the one of a job without faults; requests of one turn are all the same."""
    problems: list[str] = []
    for job in (JOB, CHILD):
        requests = [one for one in asked if one.job == job]
        if not requests:
            continue
        plan = model.plans[job]
        if requests[-1].turn != len(plan):
            problems.append(f"{job!r} was last asked for turn {requests[-1].turn} of {len(plan)}")
        said = _skip_news(requests[-1].messages)
        place = next(place for place, item in enumerate(said) if read_text(item) == job)
        wanted = [line for turn, calls in enumerate(plan) for line in _expect_turn(job, turn, calls)]
        if (found := [_describe(item) for item in said[place + 1 :]]) != wanted:
            problems.append(f"{job!r} is told as {found}, not {wanted}")
        for turn in range(len(plan)):
            same = [_skip_news(one.messages) for one in requests if one.turn == turn]
            problems += [f"turn {turn} of {job!r} differs when asked again" for one in same if one != same[0]]
    problems += [
        f"{text!r} reached the model {times} times"
        for text, times in _count_news(asked).items()
        if times != 1
    ]
    read = list(_count_news(asked))
    missing = [text for text in news if not any(text in one for one in read)]
    return problems + [f"{text!r} did not reach the model" for text in missing]


def _expect_turn(job: str, turn: int, calls: Sequence[ToolCall]) -> list[str]:
    return [f"assistant {say(job, turn)} {[call.call_id for call in calls]}"] + [
        f"tool {call.call_id}" for call in calls
    ]


def _describe(message: Message) -> str:
    if message["role"] == "tool":
        return f"tool {read_id(message['tool_call_id'])}"
    calls = [read_id(call["id"]) for call in message.get("tool_calls") or ()]
    return f"{message['role']} {read_text(message)} {calls}"


def _is_news(message: Message) -> bool:
    """Whether a message reached the run while it was in progress."""
    return message["role"] == "user" and (STEER in read_text(message) or "helper" in read_text(message))


def _skip_news(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if not _is_news(message)]


def _count_news(asked: Sequence[Asked]) -> dict[str, int]:
    """Return how often each piece of news is in the last request of the job."""
    last = [one for one in asked if one.job == JOB][-1]
    return dict(Counter(read_text(message) for message in last.messages if _is_news(message)))


async def check_forks(story: Story) -> list[str]:
    """A fork and a new answer to the same question read the same history as before the fault."""
    model, problems = story.world.model, list[str]()
    first = next(one for one in model.asked if one.job == JOB)
    view = await story.world.get(f"/api/v1/sessions/{story.session_id}")
    model.is_brief = True
    if story.root_id:
        [before] = [one for one in model.asked if one.job == "fork"]
        await story.say("fork", story.root_id)
        if model.asked[-1].job != "fork" or model.asked[-1].messages != before.messages:
            problems.append("a fork before the job reads another history")
    question = next(item for item in reversed(view["path"]) if item["role"] == "user")
    again = {"id": story.session_id, "messages": [], "trigger": "regenerate-message"}
    response = await story.world.request(
        "POST",
        "/api/v1/chat",
        json={**again, "messageId": question["id"], "tab_id": "t"},
    )
    if response.status_code != 200 or model.asked[-1].messages != first.messages:
        problems.append(f"a new answer to the job reads another history ({response.status_code})")
    return problems
