"""OpenAI's Responses API."""

from benchmarks.request.protocols import CHUNKS, MESSAGES, TEXT, WORDS, encode

PROVIDER = "openai"
API = "responses"
BASE = "/v1"
SDK = "with_openai_responses"

ITEM = "msg_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b"
PADDING = "Fq3hQx9bKw2LmZ7t"


def build_events():
    """Yield the events of one answer, in the size and shape that OpenAI sends."""
    response = {
        "id": "resp_68af4030baa48193b0b43b4c2a176a1a0b9b6d4c3f2a1e5d",
        "object": "response",
        "created_at": 1756315696,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": "gpt-5-mini-2025-08-07",
        "output": [],
        "parallel_tool_calls": True,
        "store": False,
        "usage": None,
    }
    numbers = iter(range(10 * CHUNKS))

    def write(kind, **fields):
        return encode({"type": kind, "sequence_number": next(numbers), **fields}, kind)

    def place(**fields):
        return {"item_id": ITEM, "output_index": 0, "content_index": 0, **fields}

    item = {"id": ITEM, "type": "message", "status": "in_progress", "content": [], "role": "assistant"}
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": TEXT}
    done = {**item, "status": "completed", "content": [part]}
    yield write("response.created", response=response)
    yield write("response.in_progress", response=response)
    yield write("response.output_item.added", output_index=0, item=item)
    yield write("response.content_part.added", **place(part={**part, "text": ""}))
    for number, word in enumerate(WORDS):
        padding = PADDING[number % 8 :]
        yield write("response.output_text.delta", **place(delta=word, logprobs=[], obfuscation=padding))
    yield write("response.output_text.done", **place(text=TEXT, logprobs=[]))
    yield write("response.content_part.done", **place(part=part))
    yield write("response.output_item.done", output_index=0, item=done)
    usage = {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": CHUNKS,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 20 + CHUNKS,
    }
    yield write(
        "response.completed", response={**response, "status": "completed", "output": [done], "usage": usage}
    )


def name_path(model):
    return "/responses"


def build_body(model):
    return {"model": model, "input": MESSAGES, "store": False, "stream": True}


def read_text(chunk):
    return chunk["delta"] if chunk["type"] == "response.output_text.delta" else ""
