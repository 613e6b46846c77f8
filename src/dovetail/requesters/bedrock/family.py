"""What the models on Bedrock have in common by vendor, found by the model's id, profile or ARN."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from dovetail.requesters.anthropic.traits import find_traits

Thinks: TypeAlias = Literal["", "claude", "config", "effort"]
"""How a model is asked to think: like Claude, with a `reasoningConfig`, or with a `reasoning_effort`."""

_REGIONS = ("us", "us-gov", "eu", "apac", "ap", "jp", "au", "ca", "sa", "global")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The vendor of a model, and what its models can do; the vendor of an unknown id is empty."""

    vendor: str = ""
    thinks: Thinks = ""
    caches: bool = False
    caches_tools: bool = False


@lru_cache(maxsize=256)
def find_family(model: str) -> Family:
    """Return the family of `us.anthropic.claude-…`, `amazon.nova-…`, or an ARN that contains such an id."""
    identifier = model.rpartition("/")[2]
    vendor, _, name = identifier.partition(".")
    if vendor in _REGIONS:
        vendor, _, name = name.partition(".")
    if vendor == "anthropic":
        caches = find_traits(name).output > 4096  # all since Claude 3.5
        return Family(vendor=vendor, thinks="claude", caches=caches, caches_tools=caches)
    if vendor == "amazon" and name.startswith("nova-"):
        is_second = name.startswith("nova-2-")
        return Family(vendor=vendor, thinks="config" if is_second else "", caches=True)
    if vendor == "openai":
        return Family(vendor=vendor, thinks="effort")
    return Family(vendor=vendor if name else "")
