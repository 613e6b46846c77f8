"""Anthropic's Messages API."""

from benchmarks.request.protocols import CHUNKS, MESSAGES, WORDS, encode

PROVIDER = "anthropic"
API = "anthropic"
BASE = "/v1"
SDK = "with_anthropic"


def build_events():
    """Yield the events of one answer, in the size and shape that Anthropic sends."""
    message = {
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 20,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 1,
            "service_tier": "standard",
        },
    }

    def write(kind, **fields):
        return encode({"type": kind, **fields}, kind)

    yield write("message_start", message=message)
    yield write("content_block_start", index=0, content_block={"type": "text", "text": ""})
    yield write("ping")
    for word in WORDS:
        yield write("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
    yield write("content_block_stop", index=0)
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    yield write("message_delta", delta=delta, usage={"output_tokens": CHUNKS}) + write("message_stop")


def name_path(model):
    return "/messages"


def build_body(model):
    return {"model": model, "max_tokens": 1000, "messages": MESSAGES, "stream": True}


def read_text(chunk):
    return chunk["delta"]["text"] if chunk["type"] == "content_block_delta" else ""
