"""A model's family is found in its id, its profile or its ARN."""

import pytest

from dovetail.requesters.bedrock.family import find_family


@pytest.mark.parametrize(
    ("model", "vendor"),
    [
        ("anthropic.claude-3-5-haiku-20241022-v1:0", "anthropic"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic"),
        ("global.amazon.nova-2-lite-v1:0", "amazon"),
        ("arn:aws:bedrock:us-east-1::foundation-model/deepseek.r1-v1:0", "deepseek"),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/us.meta.llama4-scout-17b-instruct-v1:0", "meta"),
        ("arn:aws:bedrock:us-east-1:1:application-inference-profile/a1b2c3", ""),
    ],
)
def test_vendor(model: str, vendor: str) -> None:
    assert find_family(model).vendor == vendor


def test_caching_and_thinking_depend_on_the_model() -> None:
    claude, old = (
        find_family("anthropic.claude-opus-4-1-20250805-v1:0"),
        find_family("anthropic.claude-3-haiku-v1:0"),
    )
    assert (claude.caches, claude.caches_tools, claude.thinks) == (True, True, "claude")
    assert not old.caches
    nova = find_family("amazon.nova-micro-v1:0")
    assert (nova.caches, nova.caches_tools, nova.thinks) == (True, False, "")
    assert find_family("amazon.nova-2-pro-v1:0").thinks == "config"
