"""What must hold at the end of a soak, read over HTTP, in the ledger and at the model.

Every run has ended as it should, and belongs to a message; no effect happened more often than
journals have a call of it; every message was read once; questions and answers alternate on every branch.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

from faults.brain import say
from faults.checks import ENDED, check_answers, check_journal, check_results, check_view
from patience import PATIENCE
from resume.world import World
from soak.brain import SoakBrain, count_letters, plan_job
from soak.people import Conversation, Entry, list_texts, list_waiting, read_text
from soak.planner import list_schedules
from soak.workspace import get_ledger, read_edition

Message = Mapping[str, Any]
AGENTS = 2
"""The most agents of one run that ask the model at the same time."""


@dataclass
class Records:
    """What the servers have of all runs: the rows, and the journals of those that have ended."""

    runs: list[Entry]
    journals: dict[str, list[Entry]] = field(default_factory=dict[str, list[Entry]])
    known: set[str] = field(default_factory=set[str])
    """The runs whose answers are in a session."""
    texts: "Counter[str]" = field(default_factory=Counter)
    """What people said and a session has as a question, or a run has read while it worked."""


async def find_damage(world: World, talks: Sequence[Conversation], brain: SoakBrain) -> list[str]:
    """Return everything that was lost, left open or done twice; empty if all is well."""
    records = Records(await list_runs(world))
    for run in records.runs:
        if run["state"] == "ended":
            records.journals[run["id"]] = await read_journal(world, run["id"])
    executed = get_ledger(world.folder).count()
    damage = [*brain.complaints, *check_effects(records, executed)]
    cancelled = {run_id for talk in talks for run_id in talk.cancelled}
    for run in records.runs:
        found = check_run(run, records.journals.get(run["id"]), executed, run["id"] in cancelled)
        damage += [f"{run['title']} {run['id']}: {problem}" for problem in found]
    if asks := (await world.get("/api/v1/asks"))["asks"]:
        damage.append(f"questions that nobody waits for are open: {asks}")
    for talk in talks:
        found = await check_talk(world, talk, brain.seed, records)
        damage += [f"{talk.session_id}: {problem}" for problem in found]
    damage += await check_schedules(world, records)
    damage += check_known(records, talks)
    return damage + await check_service(world, records, brain) + await world.storage.find_damage()


def check_effects(records: Records, executed: "Counter[str]") -> list[str]:
    """Check that nothing happened more often than it was called; what only reads may be repeated."""
    called: Counter[str] = Counter()
    for journal in records.journals.values():
        begun = {(*entry["path"], entry["call_id"]) for entry in journal if entry["type"] == "tool-start"}
        called.update(
            f"{entry['name']} {entry['args']['key']}"
            for entry in journal
            if entry["type"] == "tool-input-end"
            and "key" in entry["args"]
            and (*entry["path"], entry["call_id"]) in begun
        )
    return [
        f"{effect} ran {times} times for {called[effect]} calls"
        for effect, times in executed.items()
        if times > called[effect] and not effect.startswith("look ")
    ]


def check_run(
    run: Entry, journal: list[Entry] | None, executed: "Counter[str]", is_cancelled: bool
) -> list[str]:
    """Check how a run has ended, and its journal."""
    if journal is None:
        return [f"it is left {run['state']}"]
    allowed = ("goal", "cancelled") if is_cancelled else ("goal",)
    problems = [] if run["reason"] in allowed else [f"it ended as {run['reason']}: {journal[-1:]}"]
    return [
        *problems,
        *check_journal(journal),
        *check_results(journal, executed),
        *check_answers(journal),
        *check_counts(journal),
    ]


def check_counts(journal: list[Entry]) -> list[str]:
    """Check that the clerk has handed in the count that was asked for, as the type that it has."""
    made = {
        (*entry["path"], entry["call_id"]): entry["args"]["task"]
        for entry in journal
        if entry["type"] == "tool-input-end" and entry["name"] == "clerk"
    }
    ended = [entry for entry in journal if entry["type"] == "tool-end" and entry["status"] == "ok"]
    told = [
        (made[key], entry["result"]["data"])
        for entry in ended
        if (key := (*entry["path"], entry["call_id"])) in made
    ]
    return [f"the clerk counted {task} as {data}" for task, data in told if data != count_letters(task)]


async def check_talk(world: World, talk: Conversation, seed: int, records: Records) -> list[str]:
    """Check a session with all its branches, and the tasks in its background."""
    view = await world.get(f"/api/v1/sessions/{talk.session_id}")
    damage = ["a run is left"] if view["run_id"] else []
    damage += [f"{message} waits" for message in await list_waiting(world, talk.session_id)]
    shown = [text for text in list_texts(view) if text.startswith("job")]
    if shown != talk.accepted:
        damage.append(f"accepted {talk.accepted}, shown {shown}")
    messages = await list_messages(world, talk.session_id, records)
    damage += check_tree(messages, talk)
    questions = {message["id"]: read_text(message) for message in messages if message["role"] == "user"}
    for answer in messages:
        journal = records.journals.get(run_id := answer["metadata"].get("run_id", ""))
        if answer["role"] == "user" or journal is None:
            continue
        seen, job = talk.seen.get(run_id), questions.get(answer["parent_id"], "")
        is_cut = any(entry.get("reason") == "cancelled" for entry in journal[-1:])
        found = [*check_text(job, answer, seed, is_cut), *check_view("journal", journal, answer)]
        found += check_view("person", seen, answer) if seen else []
        damage += [f"{job} {run_id}: {problem}" for problem in found]
    return damage


def check_tree(messages: Sequence[Message], talk: Conversation) -> list[str]:
    """Check that each question is there once and has an answer, and one more if it was asked again."""
    roles = {message["id"]: message["role"] for message in messages}
    damage = [
        f"{message['role']} {message['id']} follows {roles.get(message['parent_id'])} {message['parent_id']}"
        for message in messages
        if message["parent_id"] and roles.get(message["parent_id"]) in (None, message["role"])
    ]
    asked = [read_text(message) for message in messages if message["role"] == "user"]
    jobs = sorted(text for text in asked if text.startswith("job"))
    if jobs != sorted([*talk.accepted, *talk.left]):
        damage.append(f"accepted {talk.accepted} and {talk.left}, stored {jobs}")
    answers = Counter(message["parent_id"] for message in messages if message["role"] == "assistant")
    wanted = Counter([*talk.again, *(each for each, role in roles.items() if role == "user")])
    return damage + [
        f"question {each} has {answers[each]} answers, not {times}"
        for each, times in wanted.items()
        if answers[each] != times
    ]


def check_text(job: str, answer: Message, seed: int, is_cut: bool) -> list[str]:
    """Check that an answer says what the plan of its question says, to the end or to where it was cut."""
    texts = [part["text"] for part in answer["parts"] if part["type"] == "text"]
    problems = [
        f"{part['toolCallId']} is left at {part['state']}"
        for part in answer["parts"]
        if part["type"] == "dynamic-tool" and part["state"] not in ENDED
    ]
    if not job.startswith("job"):  # steering that came too late for its run, and is a question of its own
        return problems
    least = len(plan_job(job, seed)) + 1
    wanted = [say(job, turn) for turn in range(len(texts))]
    if is_cut:
        is_right = texts[:-1] == wanted[:-1] and all(map(str.startswith, wanted[-1:], texts[-1:]))
    else:
        is_right = len(texts) >= least and texts == wanted
    return problems if is_right else [*problems, f"the answer to a plan of {least} turns says {texts}"]


async def check_schedules(world: World, records: Records) -> list[str]:
    """Check that each schedule has had its one tick, and that tick its one run."""
    damage: list[str] = []
    for schedule in await list_schedules(world):
        ticks = schedule["ticks"]
        if [tick["state"] for tick in ticks] != ["started"]:
            damage.append(f"schedule {schedule['message']} has the ticks {ticks}")
            continue
        messages = await list_messages(world, ticks[0]["session_id"], records)
        runs = [message["metadata"].get("run_id") for message in messages if message["role"] == "assistant"]
        if runs != [ticks[0]["run_id"]] or read_text(messages[0]) != schedule["message"]:
            damage.append(f"tick {ticks[0]} has the messages {messages}")
    return damage


def check_known(records: Records, talks: Sequence[Conversation]) -> list[str]:
    """Check that every run has its answer in a session, and that steering was read once."""
    for journal in records.journals.values():
        records.texts.update(
            read_text(entry)
            for entry in journal
            if (entry["type"], entry.get("kind")) == ("user-message", "steer")
        )
    lost = [run["id"] for run in records.runs if run["id"] not in records.known]
    steered = [text for talk in talks for text in talk.steered]
    return [f"run {run_id} has no answer in a session" for run_id in lost] + [
        f"{text} was read {records.texts[text]} times" for text in steered if records.texts[text] != 1
    ]


async def check_service(world: World, records: Records, brain: SoakBrain) -> list[str]:
    """Check what a day has booked, and that the newest tools are there.

    A process that dies between the two has booked a request that it has not sent, for each agent of a run.
    """
    kinds = Counter(entry["type"] for journal in records.journals.values() for entry in journal)
    turns, most = kinds["turn-end"], brain.requests + AGENTS * kinds["run-resume"]
    [booked] = await world.storage.fetch("SELECT SUM(calls) FROM spending WHERE scope = 'service'")
    [held] = await world.storage.fetch("SELECT COUNT(*) FROM reservations")
    damage = [f"{held} reservations are left"] if held else []
    if not turns <= int(booked or 0) <= most:
        damage.append(f"{booked} requests are booked for {turns} turns, and at most {most} were made")
    tools = {tool["name"]: tool["description"] for tool in (await world.get("/api/v1/tools"))["tools"]}
    edition = f"Edition {read_edition(world.folder)}."
    return damage + ([] if tools.get("note") == edition else [f"note is {tools.get('note')}, not {edition}"])


async def list_messages(world: World, session_id: str, records: Records) -> list[Message]:
    """Return the messages of all branches of a session, and note them and those of its tasks."""
    for task in (await world.get(f"/api/v1/sessions/{session_id}/children"))["children"]:
        await list_messages(world, task["session_id"], records)
    page = await world.get(f"/api/v1/sessions/{session_id}/messages?limit=500")
    messages: list[Message] = page["messages"]
    records.known |= {message["metadata"].get("run_id", "") for message in messages}
    records.texts.update(read_text(message) for message in messages if message["role"] == "user")
    return messages


async def list_runs(world: World, states: Sequence[str] = ()) -> list[Entry]:
    """Return the runs of all sessions."""
    path = "/api/v1/runs?" + "&".join(["limit=200", *(f"state={state}" for state in states)])
    page = await world.get(path)
    runs = list(page["runs"])
    while page["cursor"]:
        page = await world.get(f"{path}&cursor={page['cursor']}")
        runs += page["runs"]
    return runs


async def read_journal(world: World, run_id: str) -> list[Entry]:
    """Return all events of a run so far, as a new reader gets them; those that do not come are left out."""
    last = (await world.get(f"/api/v1/runs/{run_id}"))["last_number"]
    journal: list[Entry] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while last and (not journal or journal[-1]["number"] < last):
                after = journal[-1]["number"] if journal else 0
                async with aclosing(world.stream(f"/api/v1/runs/{run_id}/events?after={after}")) as stream:
                    async for entry in stream:
                        journal.append(entry)
                        if entry["number"] >= last:
                            break
    return journal
