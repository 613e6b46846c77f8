"""The recorded streaming cases: the final data is the recorded one, in every cutting."""

from typing import Any

import pytest

from dovetail.response.parser import InstantParser
from golden.load_cases import decode, load


def parse(deltas: list[str], schema: Any) -> Any:
    parser = InstantParser(schema)
    for delta in deltas:
        parser.feed(delta)
    parser.finish()
    return parser.data


@pytest.mark.parametrize("case", load("streaming_cases"), ids=lambda case: case["id"])
def test_recorded_answer_is_read_as_recorded(case: dict[str, Any]) -> None:
    schema, expected = decode(case["schema"]), decode(case["parsed"])
    text = "".join(case["deltas"])
    assert parse(case["deltas"], schema) == expected
    for place in range(len(text)):
        assert parse([text[:place], text[place:]], schema) == expected
    assert parse(list(text), schema) == expected
