"""Refusals of requests that are longer than a model's context window, in the words of each provider."""

import re

_CODES = ("context_length", "exceed_context_size", "context_window", "request_too_large")
_WORDS = re.compile(
    r"prompt is too long"  # Anthropic, Fireworks
    r"|exceed context limit"  # Anthropic, with max_tokens
    r"|input is too long"  # Bedrock
    r"|exceeds? the context window"  # OpenAI
    r"|maximum (?:context|prompt|input) length"  # OpenAI, vLLM, OpenRouter, DeepSeek, Mistral, xAI
    r"|input token count.*exceeds the maximum"  # Google
    r"|reduce the length of the (?:messages|prompt)"  # Groq
    r"|exceeds? the available context size"  # llama.cpp
    r"|greater than the context length"  # LM Studio
    r"|context (?:length|window|size) (?:is |was )?exceed"
    r"|too many total text bytes"  # DeepSeek
    r"|context (?:length|window) exceeds"  # MiniMax
    r"|exceeded model token limit"  # Moonshot
    r"|prompt token count of \d+ exceeds"  # GitHub Copilot
    r"|max_new_tokens`? must be <="  # Together, text-generation-inference
    r"|range of input length should be"  # Qwen
    r"|context the overflows|context length of only"  # LM Studio
    r"|number of input tokens exceeds"  # Nova
    r"|too many input tokens"  # Titan
    r"|longer than the maximum model length|context length is only"  # vLLM
    r"|longer than the model'?s context length|exceeds maximum allowed token size",  # SGLang
    re.IGNORECASE,
)
_NUMBER = r"(\d[\d,]*)"
_LIMITS = [
    re.compile(pattern.replace("#", _NUMBER), re.IGNORECASE)
    for pattern in (
        r"> # maximum",
        r"exceed context limit: [\d,]+ \+ [\d,]+ > #",
        r"maximum (?:context|prompt|input) length(?: is|:| of) #",
        r"with # maximum context length",
        r"context length (?:of|is) only #",
        r"max input tokens: #",
        r"maximum model length of #",
        r"model'?s context length \(#",
        r"maximum allowed token size #",
        r"tokens allowed \(?#",
        r"context size \(#",
        r"n_ctx: #",
        r"exceeded model token limit: #",
        r"exceeds the limit of #",
        r"must be <= #",
        r"input length should be \[\d+, #\]",
    )
]


def is_overflow(message: str, code: str = "") -> bool:
    """Return whether a refusal says that the request does not fit into the model's window."""
    return any(known in code for known in _CODES) or bool(_WORDS.search(message))


def read_limit(message: str) -> int | None:
    """Return the window in tokens that a refusal names; None without any."""
    for pattern in _LIMITS:
        found = pattern.search(message)
        if found:
            return int(found[1].replace(",", ""))
    return None
