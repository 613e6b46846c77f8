"""References inside a schema."""

import pytest

from dovetail.schema.reference import find_reference

SCHEMA = {"$defs": {"a/b": {"type": "string"}, "c": [{"x": 1}]}}


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("#", SCHEMA),
        ("#/$defs/a~1b", {"type": "string"}),
        ("#/$defs/a%2Fb", {"type": "string"}),
        ("#/$defs/c/0/x", 1),
        ("#/$defs/c/x", None),
        ("#/$defs/none/deeper", None),
        ("other.json#/$defs/c", None),
    ],
)
def test_reference_leads_to_its_part_or_nowhere(reference: str, found: object) -> None:
    assert find_reference(SCHEMA, reference) == found
