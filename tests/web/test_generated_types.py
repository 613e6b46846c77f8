"""The web client's types of events are those of the Python events."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "web" / "scripts" / "generate_events.py"


def test_generated_event_types_are_fresh() -> None:
    made = runpy.run_path(str(SCRIPT))
    assert made["TARGET"].read_text("utf-8") == made["generate"](), (
        "the events have changed: run `python web/scripts/generate_events.py`"
    )


def test_an_annotation_that_is_not_known_is_named() -> None:
    write_type = runpy.run_path(str(SCRIPT))["write_type"]
    assert write_type(tuple[str, ...]) == "string[]"
    assert write_type(float | None) == "number | null"
    with pytest.raises(TypeError, match=r"set\[int\]"):
        write_type(set[int])
