"""Levels and numbers of tokens mean the same to every provider."""

import pytest

from dovetail.errors import ConfigError
from dovetail.events.call import ModelRequest
from dovetail.requesters.thinking import BUDGETS, count_tokens, name_level, settle_thinking


@pytest.mark.parametrize("level", BUDGETS)
def test_number_of_a_level_stands_for_that_level(level: str) -> None:
    assert name_level(count_tokens(level)) == name_level(level) == level


@pytest.mark.parametrize(("tokens", "level"), [(1, "low"), (4096, "medium"), (16_384, "high")])
def test_number_stands_for_the_nearest_level(tokens: int, level: str) -> None:
    assert name_level(tokens) == level
    assert count_tokens(tokens) == tokens


@pytest.mark.parametrize(
    ("thinking", "complaint"),
    [
        ("lots", "Expected one of: off, low, medium, high"),
        ("none", "Did you mean 'off'?"),
        ("minimal", "Did you mean 'off'?"),
        (-1, "or a number of tokens, got -1"),
        (0, "or a number of tokens, got 0"),
    ],
)
def test_wrong_level_is_refused_for_every_provider(thinking: str | int, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settle_thinking(ModelRequest(messages=[], options={"thinking": thinking}))
    assert complaint in caught.value.message


def test_option_of_a_request_goes_before_the_usual_level() -> None:
    request = ModelRequest(messages=[], options={"thinking": "low", "seed": 1})
    settled = settle_thinking(request, "high")
    assert (settled.thinking, settled.options) == ("low", {"seed": 1})
    assert settle_thinking(ModelRequest(messages=[]), "high").thinking == "high"
