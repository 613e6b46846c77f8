"""Fields in their notation become JSON Schema."""

from typing import Any

import pytest

from dovetail.schema.notation import write_notation


@pytest.mark.parametrize(
    ("notation", "schema"),
    [
        ([], {"type": "array"}),
        ([(int, "a size")], {"type": "array", "items": {"type": "integer", "description": "a size"}}),
        ([(int,), (str,)], {"type": "array", "items": {"type": "integer"}}),
    ],
)
def test_first_item_schema_of_a_list_counts(notation: Any, schema: dict[str, Any]) -> None:
    assert write_notation(notation) == schema
