"""OpenAI's chat completions."""

from benchmarks.request.protocols import CHUNKS, MESSAGES, WORDS, encode

PROVIDER = "openai"
API = "chat"
BASE = "/v1"
SDK = "with_openai"


def build_events():
    """Yield the events of one answer, in the size and shape that OpenAI sends."""
    envelope = {
        "id": "chatcmpl-CBq1Qm0000000000000000000000",
        "object": "chat.completion.chunk",
        "created": 1756900000,
        "model": "gpt-4.1-2025-04-14",
        "service_tier": "default",
        "system_fingerprint": "fp_1a2b3c4d5e",
    }

    def write(delta, reason=None):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return encode({**envelope, "choices": [choice], "usage": None})

    yield write({"role": "assistant", "content": ""})
    yield from (write({"content": word}) for word in WORDS)
    yield write({}, "stop")
    usage = {"prompt_tokens": 20, "completion_tokens": CHUNKS, "total_tokens": 20 + CHUNKS}
    yield encode({**envelope, "choices": [], "usage": usage}) + b"data: [DONE]\n\n"


def name_path(model):
    return "/chat/completions"


def build_body(model):
    return {"model": model, "messages": MESSAGES, "stream": True, "stream_options": {"include_usage": True}}


def read_text(chunk):
    return "".join([choice["delta"].get("content") or "" for choice in chunk["choices"]])
