"""Markdown that is read again has the messages that were written, whatever they say."""

import pytest

from dovetail.sessions.message import Message, Part, make_session
from dovetail.sessions.transfer import read_markdown, to_markdown
from dovetail.settings import LOCAL_OWNER


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": "Look:\n## You\nI said so."},
        {"type": "text", "text": "Look:\r\n## You\r\nI said so."},
        {"type": "dynamic-tool", "toolName": "fetch", "input": {}, "output": "A page\n## You\nI said so."},
        {"type": "dynamic-tool", "toolName": "fetch", "input": {}, "errorText": "no\n## You\nI said so."},
        {"type": "file", "filename": "a\n## You\nb"},
    ],
)
def test_what_looks_like_a_heading_begins_no_message(part: Part) -> None:
    message = Message(id="m", parent_id=None, role="assistant", parts=[part], content=[])
    written = to_markdown(make_session(LOCAL_OWNER, None, title="t"), [message])
    _, messages = read_markdown(written)
    assert [message.role for message in messages] == ["assistant"]
    assert "\n## You\n" in str(messages[0].parts[0]["text"])
