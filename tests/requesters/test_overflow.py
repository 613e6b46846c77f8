"""Every provider says in its own words that a request is too long for its model."""

import json

import pytest

from dovetail.requesters.refusal import Refusal

REFUSALS = [
    ("prompt is too long: 213462 tokens > 200000 maximum", 200_000),
    ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease it", 200_000),
    ("The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", 1_048_575),
    ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", 8192),
    ("Your input exceeds the context window of this model. Please adjust your input.", None),
    ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072),
    ("Please reduce the length of the messages or completion.", None),
    ("the request exceeds the available context size (4096 tokens), try increasing it", 4096),
    ("tokens to keep is greater than the context length (n_keep: 5000 >= n_ctx: 4096)", 4096),
    ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768),
    ("The prompt is too long: 140000, model maximum context length: 131071", 131_071),
    ("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097", 4097),
    ("Your request exceeded model token limit: 262144 (requested: 300000)", 262_144),
    ("prompt token count of 70000 exceeds the limit of 64000", 64_000),
    ("Input is too long for requested model.", None),
    ("<400> InternalError: Range of input length should be [1, 30720]", 30_720),
    ("maximum context length is 1,047,576 tokens", 1_047_576),
    (
        "Trying to keep the first 4237 tokens when context the overflows. However, the model is loaded with "
        "context length of only 4096 tokens, which is not enough.",
        4096,
    ),
    ("Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input.", None),
    ("Too many input tokens. Max input tokens: 8192, request input token count: 8500", 8192),
    ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096),
    ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4096),
    ("Input length 5000 exceeds maximum allowed token size 4096", 4096),
    ("You passed 4097 input tokens. However, the model's context length is only 4096 tokens", 4096),
]


def refuse(status: int, message: str, code: str = "") -> Refusal:
    return Refusal.read(status, json.dumps({"error": {"message": message, "code": code}}).encode())


@pytest.mark.parametrize(("message", "limit"), REFUSALS)
def test_refusal_is_recognized_with_the_window_it_names(message: str, limit: int | None) -> None:
    refusal = refuse(400, message)
    assert refusal.exceeds_context
    assert refusal.context_limit == limit


@pytest.mark.parametrize(
    "code", ["context_length_exceeded", "exceed_context_size_error", "request_too_large"]
)
def test_code_alone_is_enough(code: str) -> None:
    assert refuse(400, "No.", code).exceeds_context


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (429, "Request too large for gpt-4.1: maximum context length per minute is 30000 tokens"),
        (400, "Invalid value for 'temperature'."),
        (401, "Incorrect API key provided."),
        (400, "max_tokens must be at most 4096"),
        (404, "The model does not exist."),
    ],
)
def test_other_refusals_are_something_else(status: int, message: str) -> None:
    assert not refuse(status, message).exceeds_context
