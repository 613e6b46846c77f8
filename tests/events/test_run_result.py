"""One result type for loops, agents and stored runs."""

from dovetail.agents.run import AgentOutput
from dovetail.events.run_result import RunResult


def test_value_is_the_data_or_else_the_text() -> None:
    assert RunResult(text="four", data=4, turns=1).value == 4
    assert RunResult(text="four", turns=1).value == "four"
    assert RunResult(text="", turns=1).value == ""


def test_run_that_ended_before_its_first_turn_has_no_value() -> None:
    assert RunResult(reason="cancelled").value is None


def test_agents_know_it_by_their_own_names() -> None:
    result = AgentOutput(reason="max-turns", text="Half of it.")
    assert (result.result, result.terminate_reason) == ("Half of it.", "max-turns")
    assert AgentOutput is RunResult
