"""Compare the two sides' results of a case, view by view."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from conformance.deviations import DEVIATIONS, REWRITES
from conformance.differences import Difference


@dataclass(frozen=True)
class Finding:
    """A view that differs, and the names of the deviations that explain it, if any."""

    difference: Difference
    settled_by: tuple[str, ...]


def compare(
    case: dict[str, Any],
    theirs: dict[str, Any],
    ours: dict[str, Any],
    removed: Collection[str] = (),
) -> list[Finding]:
    """Return the views in which the two sides differ; deviations that are `removed` explain nothing."""
    findings: list[Finding] = []
    for view in theirs:
        if view in ours and not _agree(theirs[view], ours[view]):
            difference = Difference(case, view, theirs, ours)
            findings.append(Finding(difference, _settle(difference, removed)))
    return findings


def _settle(difference: Difference, removed: Collection[str]) -> tuple[str, ...]:
    applied: list[str] = []
    for rewrite in REWRITES:
        their_view = rewrite.rewrite(difference)
        if their_view != difference.their_view:
            applied.append(rewrite.name)
            difference = difference.with_their_view(their_view)
    if _agree(difference.their_view, difference.our_view):
        return tuple(applied)
    for deviation in DEVIATIONS:
        if deviation.name not in removed and deviation.settles(difference):
            return (*applied, deviation.name)
    return ()


def _agree(theirs: dict[str, Any], ours: dict[str, Any]) -> bool:
    """Return whether both have the same result and number of warnings, or errors of one kind."""
    if "error" in theirs or "error" in ours:
        return "error" in theirs and "error" in ours and theirs["error"][0] in ours["error"]
    return theirs["result"] == ours["result"] and len(theirs.get("warnings", ())) == len(
        ours.get("warnings", ())
    )
