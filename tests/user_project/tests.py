"""A user's own tests: scripted and recorded models are requesters."""

from typing import assert_type

from dovetail import Agent, AgentDefinition, InputConfig, Prompt
from dovetail.requesters import Requester
from dovetail.testing import Cassette, RecordedRequester, Reply, ScriptedRequester

model: Requester = ScriptedRequester(["Hello.", {"text": "Hi."}, Reply(text="Yes.", cut=2), ["On", "e"]])
agent = Agent(model=model)

with Cassette("stock.json", mode="replay", clean=str.lower) as cassette:
    assert_type(cassette, Cassette)
    recorded: Requester = cassette.requester("openai:gpt-4.1-mini")
    assert_type(cassette.requester(model), RecordedRequester)

definition = AgentDefinition(
    name="reader",
    description="Reads.",
    input_config=InputConfig(inputs={"task": {"type": "string", "description": "What to read."}}),
)
assert_type(definition.name, str)
assert_type(Prompt({"input": "Hi."}).to_text(), str)

Cassette("stock.json", mode="once")  # type: ignore[arg-type]
