"""Google's Gemini API."""

from benchmarks.request.protocols import CHUNKS, MESSAGES, WORDS, encode

PROVIDER = "google"
API = "google"
BASE = "/v1beta"
SDK = "with_google_genai"


def build_events():
    """Yield the events of one answer, in the size and shape that Google sends: each counts the tokens."""
    for number, word in enumerate(WORDS, 1):
        candidate = {"content": {"parts": [{"text": word}], "role": "model"}, "index": 0}
        if number == CHUNKS:
            candidate["finishReason"] = "STOP"
        yield encode(
            {
                "candidates": [candidate],
                "usageMetadata": {
                    "promptTokenCount": 20,
                    "candidatesTokenCount": number,
                    "totalTokenCount": 20 + number,
                    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 20}],
                },
                "modelVersion": "gemini-2.5-flash",
                "responseId": "7mYhaZ3rMvqgz7IPn5bUoAo",
            }
        )


def name_path(model):
    return f"/models/{model}:streamGenerateContent?alt=sse"


def build_body(model):
    return {"contents": [{"role": "user", "parts": [{"text": MESSAGES[0]["content"]}]}]}


def read_text(chunk):
    return chunk["candidates"][0]["content"]["parts"][0]["text"]
