"""The speed of a model is that of its first answer, where it took long enough to measure one."""

from dovetail.cli.model_check import check_model
from dovetail.events.delta import Usage
from dovetail.requesters.question import Answer
from dovetail.testing import Reply, ScriptedRequester


def test_speed_counts_the_tokens_after_the_first_delta() -> None:
    assert Answer(usage=Usage(output_tokens=100), first=1.0, total=3.0).speed == 50


def test_answer_that_comes_all_at_once_has_no_speed() -> None:
    assert Answer(usage=Usage(output_tokens=100), first=1.0, total=1.0003).speed is None


def test_hidden_reasoning_before_the_first_delta_does_not_count() -> None:
    usage = Usage(output_tokens=100, reasoning_tokens=80)
    assert Answer(usage=usage, first=1.0, total=2.0).speed == 20
    assert Answer(usage=usage, reasoning="Well.", first=1.0, total=2.0).speed == 100


async def test_tokens_of_later_answers_do_not_count_for_the_speed() -> None:
    later = Reply(text="5", usage=Usage(output_tokens=100))
    requester = ScriptedRequester([Reply(text="Paris.", cut=3), later, later, later])
    result = await check_model(requester, lambda _: None)
    assert result.usage.output_tokens == 300
    assert result.speed is None
