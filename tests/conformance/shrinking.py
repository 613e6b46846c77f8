"""Make a failing case smaller, as long as it still fails."""

from collections.abc import Iterator
from typing import Any

from conformance.comparison import Finding
from conformance.sides import run_batches

ROUNDS = 40


def shrink(python: str, finding: Finding) -> Finding:
    """Return the same kind of difference in the smallest case that was found."""
    for _ in range(ROUNDS):
        candidates = dict(enumerate(_make_smaller(finding.difference.case)))
        smaller = next(
            (
                found
                for results in run_batches(python, candidates)
                for _, _, findings in results
                for found in findings
                if not found.settled_by and found.difference.kind == finding.difference.kind
            ),
            None,
        )
        if smaller is None:
            return finding
        finding = smaller
    return finding


def _make_smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in case:
        if key not in ("layers", "file"):
            yield {name: value for name, value in case.items() if name != key}
    layers: list[Any] = case.get("layers", [])
    for position, layer in enumerate(layers):
        if len(layers) > 1:
            yield {**case, "layers": layers[:position] + layers[position + 1 :]}
        for number, operation in enumerate(layer):
            yield _with_operations(case, position, layer[:number] + layer[number + 1 :])
            for smaller in _make_smaller_values(operation[-1]) if operation[0] in ("set", "item") else ():
                changed = [*operation[:-1], smaller]
                yield _with_operations(case, position, [*layer[:number], changed, *layer[number + 1 :]])


def _with_operations(case: dict[str, Any], position: int, operations: list[Any]) -> dict[str, Any]:
    layers = [operations if number == position else layer for number, layer in enumerate(case["layers"])]
    return {**case, "layers": layers}


def _make_smaller_values(note: Any) -> Iterator[Any]:
    """Yield the note without one of its items, or with a smaller one."""
    if isinstance(note, dict):
        ((kind, content),) = note.items()
        if isinstance(content, list):
            yield from ({kind: smaller} for smaller in _make_smaller_values(content))
    elif isinstance(note, list):
        for position, item in enumerate(note):
            yield note[:position] + note[position + 1 :]
            yield from (
                [*note[:position], smaller, *note[position + 1 :]] for smaller in _make_smaller_values(item)
            )
