"""The two prompts to render, without imports of Dovetail, so that a peer can use them too."""

from typing import Any


def small() -> dict[str, Any]:
    """A question with a little context and three fields to answer."""
    return {
        "system": "You are a careful joiner.",
        "info": {"wood": "oak", "age": 40, "moisture": "9 percent"},
        "instruct": "Answer for a beginner, in two sentences.",
        "input": "Which joint holds without glue?",
        "output": {
            "thinking": (str, "step by step"),
            "joint": (str, "the name of the joint"),
            "steps": [(str, "one step")],
        },
    }


def large() -> dict[str, Any]:
    """A long conversation: 50 facts, 30 tools, 100 messages, 30 fields."""
    return {
        "system": "You are the planner of a workshop with forty benches. Be exact and brief; never guess.",
        "chat_history": [
            {
                "role": "user" if number % 2 == 0 else "assistant",
                "content": f"Message {number}: the plank on bench {number} needs another look before noon.",
            }
            for number in range(100)
        ],
        "info": {
            f"fact {number}": number
            if number % 10 == 0
            else f"bench {number} holds {number * 3} planks of ash"
            for number in range(50)
        },
        "tools": [_tool(number) for number in range(30)],
        "action_results": {
            f"look at bench {number}": f"{number * 7} planks, of which {number} are warped"
            for number in range(5)
        },
        "instruct": [f"Follow rule {number} of the workshop to the letter" for number in range(8)],
        "input": "Which benches are free this afternoon, and what should be planed first?",
        "output": {
            **{f"field_{number}": (str, f"what the plan says of part {number}") for number in range(24)},
            "benches": [{"number": (int, "of the bench"), "free": (bool, "this afternoon")}],
            "first": {"plank": (str, "its name"), "why": (str, "one sentence"), "minutes": (int, "at most")},
        },
    }


def _tool(number: int) -> dict[str, Any]:
    return {
        "name": f"measure_{number}",
        "desc": f"Measure plank number {number} on its bench and tell its three sizes",
        "kwargs": {
            "bench": (int, "number of the bench"),
            "side": (str, "left or right"),
            "fine": (bool, "to a tenth of a millimetre"),
        },
        "returns": {"length": (float, "in mm"), "width": (float, "in mm")},
    }


CASES = {"small": small, "large": large}
