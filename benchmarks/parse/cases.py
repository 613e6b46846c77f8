"""The documents (many small items, one long string, many escapes) and how an answer is cut into deltas."""

import json

SIZES = {"1 KB": 1_000, "10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000}
DELTA = 4
SCHEMA = {"rows": [{"id": int, "name": str}], "text": str}

WIRE_CHUNK = json.dumps(
    {
        "id": "chatcmpl-9fK2mQx7Lr4TzVb1",
        "object": "chat.completion.chunk",
        "created": 1735689600,
        "model": "gpt-4o-mini",
        "choices": [
            {"index": 0, "delta": {"content": "abcd"}, "logprobs": None, "finish_reason": None},
        ],
    },
    separators=(",", ":"),
)
"""A wire chunk with one delta: about 200 bytes that every client must parse."""


def many_items(size: int) -> str:
    """Rows of small fields."""
    rows, length = [], 0
    while length < size:
        number = len(rows)
        row = {
            "id": number,
            "name": f"Item number {number}",
            "price": number * 1.25,
            "active": number % 2 == 0,
            "tags": ["alpha", "beta"],
        }
        rows.append(row)
        length += len(json.dumps(row)) + 2
    return json.dumps({"rows": rows})


def long_string(size: int) -> str:
    """One field of prose."""
    sentence = "The quick brown fox jumps over the lazy dog. "
    return json.dumps({"text": (sentence * (size // len(sentence) + 1))[:size]})


def escaped_string(size: int) -> str:
    """One field of dialogue: an escape in every other delta."""
    sentence = 'She said "yes",\nhe said "no".\n'
    return json.dumps({"text": (sentence * (size // len(sentence) + 1))[:size]})


CASES = {"many items": many_items, "one long string": long_string, "many escapes": escaped_string}


def cut(text: str) -> list[str]:
    """Cut an answer into deltas."""
    return [text[start : start + DELTA] for start in range(0, len(text), DELTA)]
