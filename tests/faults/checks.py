"""Checks that must hold after recovery, whatever was killed and when."""

import dataclasses
from collections import Counter
from typing import Any

from dovetail.events.delta import Usage
from dovetail.events.run_events import Entry
from dovetail.runs.rows import EVENTS
from dovetail.sessions.parts import fold_parts
from faults.brain import plan_job, say
from faults.person import Person
from faults.world import World

ENDED = {"output-available", "output-error", "output-denied"}


async def find_damage(world: World, people: list[Person], seed: int) -> list[str]:
    """Return everything that was lost, left open or done twice; empty if all is well."""
    damage: list[str] = []
    executed = Counter(world.ledger.read_text().splitlines())
    damage += [
        f"{line} ran {times} times" for line, times in executed.items() if times > 1 and "look " not in line
    ]
    if (asks := (await world.request("GET", "/api/v1/asks")).json()["asks"]) != []:
        damage.append(f"questions that nobody waits for are open: {asks}")
    for person in people:
        damage += await _check_session(world, person, seed, executed)
    return damage


async def _check_session(world: World, person: Person, seed: int, executed: "Counter[str]") -> list[str]:
    view = (await world.request("GET", f"/api/v1/sessions/{person.session_id}")).json()
    damage = [f"{person.session_id} still has a run"] if view["run_id"] else []
    questions = [message["parts"][0]["text"] for message in view["path"] if message["role"] == "user"]
    answers = [message for message in view["path"] if message["role"] == "assistant"]
    if questions != person.sent or len(answers) != len(questions):
        damage.append(f"{person.session_id}: sent {person.sent}, stored {questions}, {len(answers)} answers")
    for job, answer in zip(questions, answers, strict=False):
        run = (await world.request("GET", f"/api/v1/runs/{answer['metadata']['run_id']}")).json()
        journal = [e async for e in world.stream("GET", f"/api/v1/runs/{run['id']}/events")]
        seen = person.entries[run["id"]]
        found = [
            *([f"it ended as {run['reason']} {run['error']}"] if run["reason"] != "goal" else []),
            *_check_text(job, answer, seed),
            *check_journal(journal),
            *check_results(journal, executed),
            *check_answers(journal),
            *check_view("person", seen, answer),
            *check_view("journal", journal, answer),
        ]
        damage += [f"{person.session_id} {job} {run['id']}: {problem}" for problem in found]
    return damage


def _check_text(job: str, answer: dict[str, Any], seed: int) -> list[str]:
    wanted = [say(job, turn) for turn in range(len(plan_job(job, seed)) + 1)]
    texts = [part["text"] for part in answer["parts"] if part["type"] == "text"]
    open_parts = [
        part for part in answer["parts"] if part["type"] == "dynamic-tool" and part["state"] not in ENDED
    ]
    children = [
        part
        for part in answer["parts"]
        if part["type"] == "data-subagent" and part["data"].get("reason") != "goal"
    ]
    return [
        *([f"the answer says {texts}, not {wanted}"] if texts != wanted else []),
        *(f"{part['toolCallId']} is left at {part['state']}" for part in open_parts),
        *(f"child {part['id']} did not reach its goal: {part['data']}" for part in children),
    ]


def check_journal(journal: list[dict[str, Any]]) -> list[str]:
    """Check that numbers ascend, the run ends once, and each call has exactly one result."""
    numbers = [entry["number"] for entry in journal]
    ends = [entry for entry in journal if entry["type"] == "run-end" and len(entry["path"]) == 1]
    problems = [] if numbers == sorted(set(numbers)) else [f"numbers {numbers}"]
    problems += [] if len(ends) == 1 and journal[-1] is ends[0] else [f"{len(ends)} ends"]
    calls = Counter(_key(entry) for entry in journal if entry["type"] == "tool-start")
    results = Counter(_key(entry) for entry in journal if entry["type"] == "tool-end")
    problems += [f"{key} has {results[key]} results" for key in calls if results[key] != 1]
    return problems + [f"{key} has {times} results" for key, times in results.items() if times != 1]


def check_results(journal: list[dict[str, Any]], executed: "Counter[str]") -> list[str]:
    """Check that a call reported as done was done, and a declined one was not."""
    made = {_key(entry): entry for entry in journal if entry["type"] == "tool-input-end"}
    problems: list[str] = []
    for entry in journal:
        call = made.get(_key(entry))
        if entry["type"] != "tool-end" or call is None or call["name"] not in ("note", "look", "spend"):
            continue
        what = f"{call['name']} {call['args']['key']}"
        times = executed[what]
        if (entry["status"] == "ok" and times < 1) or (entry["status"] == "denied" and times):
            problems.append(f"{what} is told as {entry['status']} and ran {times} times")
        if entry["status"] not in ("ok", "denied", "interrupted"):
            problems.append(f"{what} ended as {entry['status']}: {entry['error']}")
    return problems


def check_answers(journal: list[dict[str, Any]]) -> list[str]:
    """Check that a browser's answer reached the call that asked for it, although other calls have its id."""
    made = {_key(entry): entry for entry in journal if entry["type"] == "tool-input-end"}
    ended = [entry for entry in journal if entry["type"] == "tool-end" and entry["status"] == "ok"]
    told = [(made[_key(entry)]["args"]["key"], entry["result"]) for entry in ended if _is_pick(made, entry)]
    return [f"{key} was told {result}" for key, result in told if result["llm_content"] != f"picked {key}"]


def _is_pick(made: dict[tuple[str, ...], dict[str, Any]], entry: dict[str, Any]) -> bool:
    return made[_key(entry)]["name"] == "pick"


def check_view(who: str, seen: list[dict[str, Any]], answer: dict[str, Any]) -> list[str]:
    """Check that the events add up to the stored answer."""
    try:
        parts = fold_parts(map(read_entry, seen))
    except KeyError as error:
        return [f"the {who} cannot read on at {error}: {[entry['type'] for entry in seen]}"]
    return [] if parts == answer["parts"] else [f"the {who} sees\n{parts}\nstored is\n{answer['parts']}"]


def read_entry(data: dict[str, Any]) -> Entry:
    """Return an event as the journal has it, read from the stream."""
    kind = EVENTS[data["type"]]
    values = {field.name: data[field.name] for field in dataclasses.fields(kind)}
    if "usage" in values:
        values["usage"] = Usage.read(values["usage"])
    return Entry(data["number"], data["run_id"], tuple(data["path"]), data["time"], kind(**values))


def _key(entry: dict[str, Any]) -> tuple[str, ...]:
    return (*entry["path"], entry.get("call_id", ""))
