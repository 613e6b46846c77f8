"""A run waits for nothing but answers, or it does not."""

from dovetail.events.delta import Usage
from dovetail.events.run_events import (
    AskAnswer,
    AskRequest,
    Entry,
    Event,
    RunEnd,
    RunStart,
    ToolEnd,
    ToolHold,
    ToolStart,
    TurnEnd,
)
from dovetail.server.streams.pending_asks import PendingAsks

ROOT, CHILD = ("r",), ("r", "child")


class Run:
    """A run whose events are added one by one."""

    def __init__(self) -> None:
        self.pending = PendingAsks()

    def tell(self, *events: Event, path: tuple[str, ...] = ROOT) -> bool:
        for event in events:
            self.pending.take(Entry(1, "r", path, 0.0, event))
        return self.pending.needs_answers()


def ask(call_id: str) -> AskRequest:
    return AskRequest(f"ask {call_id}", "approval", call_id, {})


def answer(call_id: str) -> AskAnswer:
    return AskAnswer(f"ask {call_id}", {"approved": True})


def start(call_id: str) -> ToolStart:
    return ToolStart(call_id, "read", call_id)


def end(call_id: str) -> ToolEnd:
    return ToolEnd(call_id, "ok", "done")


def test_approvals_are_waited_for_when_all_were_asked() -> None:
    run = Run()
    assert not run.tell(RunStart("a", "m"), ToolHold(("x", "y")))
    assert not run.tell(ask("x"))
    assert run.tell(ask("y"))
    assert run.tell(answer("x"))
    assert not run.tell(answer("y"))
    assert not run.tell(start("x"), end("x"), start("y"), end("y"), TurnEnd(1, Usage(), "tool-calls"))


def test_an_answer_that_comes_before_the_last_question_ends_no_stream() -> None:
    run = Run()
    assert not run.tell(ToolHold(("x", "y")), ask("x"), answer("x"))
    assert run.tell(ask("y"))


def test_a_call_that_was_refused_is_asked_about_no_more() -> None:
    run = Run()
    assert not run.tell(ToolHold(("x", "y")), ask("x"))
    assert run.tell(end("y"))


def test_calls_in_parallel_wait_when_each_has_asked_or_ended() -> None:
    run = Run()
    assert not run.tell(start("open"), start("look"), ask("open"))
    assert run.tell(end("look"))
    assert not run.tell(answer("open"))
    assert not run.tell(end("open"))


def test_a_turn_after_the_one_that_asked_starts_again() -> None:
    run = Run()
    run.tell(ToolHold(("x",)), ask("x"), answer("x"), start("x"), end("x"), TurnEnd(1, Usage(), "tool-calls"))
    assert run.tell(ToolHold(("z",)), ask("z"))


def test_after_a_crash_only_what_is_asked_in_the_new_life_is_awaited() -> None:
    run = Run()
    assert not run.tell(ToolHold(("x", "y")), ask("x"))
    assert run.tell(ToolHold(("x",)))  # a rule lets the other one through by now


def test_a_call_waits_when_its_agent_does() -> None:
    run = Run()
    run.tell(start("open"), start("helper"), ask("open"))
    assert not run.tell(RunStart("helper", "m", parent_call_id="helper"), path=CHILD)
    assert not run.tell(start("inner"), path=CHILD)
    assert run.tell(ask("inner"), path=CHILD)
    assert not run.tell(answer("inner"), end("inner"), path=CHILD)
    assert not run.tell(RunEnd("goal"), path=CHILD)
    assert run.tell(end("helper"))


def test_a_question_of_a_child_alone_is_nothing_a_plain_client_could_answer() -> None:
    run = Run()
    run.tell(start("helper"))
    run.tell(RunStart("helper", "m", parent_call_id="helper"), path=CHILD)
    assert not run.tell(start("inner"), ask("inner"), path=CHILD)


def test_questions_that_have_their_answer_in_the_store_are_not_awaited() -> None:
    run = Run()
    assert run.tell(ToolHold(("x", "y")), ask("x"), ask("y"))
    run.pending.keep_open({"ask y"})
    assert run.tell()
    run.pending.keep_open(set())
    assert not run.tell()
