"""An example of every response, for the OpenAPI document; a test compares them with real responses."""

from collections.abc import Mapping
from typing import Any

from dovetail.server.openapi_catalog import CATALOG, JSON
from dovetail.server.openapi_operation import OPERATION
from dovetail.version import __version__

_MOMENT = "2026-11-16T01:36:20.148Z"
_USAGE = {
    "input_tokens": 163,
    "output_tokens": 8,
    "cached_tokens": 0,
    "reasoning_tokens": 0,
    "cost": None,
    "cache_write_tokens": 0,
}
_SESSION: dict[str, Any] = {
    "id": "s1",
    "title": "Plans",
    "head": "msg_2",
    "version": 3,
    "usage": _USAGE,
    "agent": None,
    "options": {"model": "openai:gpt-4.1", "mode": "plan"},
    "pinned": False,
    "folder": None,
    "parent_id": None,
    "origin": None,
    "created_at": _MOMENT,
    "updated_at": _MOMENT,
}
_MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "parent_id": None,
    "role": "user",
    "parts": [{"type": "text", "text": "Hello"}],
    "metadata": {},
    "created_at": _MOMENT,
}
_SOURCE = {
    "kind": "agents",
    "name": "poet",
    "path": "agents/poet.md",
    "text": "---\nname: poet\ndescription: Writes verses.\n---\nWrite a verse.\n",
    "version": "91f0c2a4b7d3e5f6",
    "is_own": True,
    "problem": None,
}
_SHARE = {
    "token": "q6pX0b1n4Z0mJm3c9i8hJmQJ1Yw2l7Vd",
    "session_id": "s1",
    "head_id": "msg_2",
    "with_work": False,
    "created_at": _MOMENT,
}
_SIBLINGS = {"index": 0, "total": 1, "previous": None, "next": None}
_CHUNKS = """id: 1
data: {"type":"start","messageId":"msg_2","messageMetadata":{"session_id":"s1","run_id":"run_1"}}

id: 4
data: {"type":"text-delta","id":"text-1-1","delta":"Hello"}

data: [DONE]

"""
_EVENTS = """id: 4
data: {"number":4,"run_id":"run_1","path":["run_1"],"time":1.0,"type":"text-delta","id":"t1","delta":"Hi"}

data: [DONE]

"""
_FEED = """data: {"type":"reset"}

data: {"type":"run","run_id":"run_1","session_id":"s1","state":"running"}

data: {"type":"session","session_id":"s1","change":"created"}

"""
_TASK: dict[str, Any] = {
    "session_id": "ses_1",
    "run_id": "run_2",
    "agent": "summarizer",
    "title": "Summarize the report",
    "state": "ended",
    "reason": "goal",
    "created_at": _MOMENT,
    "ended_at": _MOMENT,
    "call_id": "call_1",
}
_ASK: dict[str, Any] = {
    "id": "ask_1",
    "run_id": "run_1",
    "path": ["run_1"],
    "kind": "approval",
    "call_id": "call_1",
    "payload": {"tool": "saw", "args": {}, "reason": "it may change something outside"},
    "timeout": None,
    "state": "open",
    "claimed_by": None,
    "claimed_until": None,
    "created_at": _MOMENT,
    "ask_id": "ask_1",
    "session_id": "s1",
    "ancestors": [],
    "parent_session_id": None,
    "session_title": "Plans",
    "agent": "master",
}
_RUN = {
    "id": "run_1",
    "owner": "ann",
    "session_id": "s1",
    "message_id": "msg_2",
    "agent": "master",
    "model": "openai:gpt-4.1",
    "generation": 1,
    "state": "ended",
    "reason": "goal",
    "result": "Hello to you.",
    "usage": _USAGE,
    "error": None,
    "limit": None,
    "notice": None,
    "duration": 1.2,
    "last_number": 7,
    "created_at": _MOMENT,
    "started_at": _MOMENT,
    "ended_at": _MOMENT,
}
_TICK: dict[str, Any] = {
    "tick_at": _MOMENT,
    "state": "started",
    "run_id": "run_1",
    "session_id": "s1",
    "detail": None,
}
_SCHEDULE: dict[str, Any] = {
    "id": "sch_1",
    "agent": "master",
    "schedule": "0 9 * * 1-5 Europe/Berlin",
    "message": "What is new?",
    "title": "News",
    "model": None,
    "mode": None,
    "session_id": None,
    "missed": "latest",
    "enabled": True,
    "source": "api",
    "next_at": _MOMENT,
    "created_at": _MOMENT,
    "last": _TICK,
}
_MODEL = {"id": "master", "object": "model", "created": 0, "owned_by": "dovetail"}
_COMPLETION = {
    "id": "run_1",
    "object": "chat.completion",
    "created": 1794800740,
    "model": "master",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello to you.", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 163,
        "completion_tokens": 8,
        "total_tokens": 171,
        "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    },
}
_REMEMBERED = {
    "id": "rule_1",
    "tool": "write_file",
    "kind": "write",
    "args": {"path": "notes.md", "content": "Oak"},
    "agent": "master",
    "modes": ["default", "auto", "yolo"],
    "owner": "ann",
    "session_id": "s1",
    "given_at": _MOMENT,
    "undone_at": None,
}

STREAM, TEXT, MARKDOWN = "text/event-stream", "text/plain", "text/markdown"

ANSWERS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "GET /healthz": {"200": {JSON: {"status": "ok", "version": __version__}}},
    "GET /readyz": {"200": {JSON: {"status": "ok"}}, "503": {JSON: {"status": "starting"}}},
    "GET /metrics": {"200": {TEXT: 'dovetail_runs_total{agent="master",reason="goal"} 1.0\n'}},
    "POST /api/v1/chat": {
        "200": {
            STREAM: _CHUNKS,
            JSON: {
                "session_id": "s1",
                "run_id": "run_1",
                "message_id": "msg_2",
                "response": "Hello to you.",
                "reason": "goal",
                "created_at": _MOMENT,
            },
        },
        "202": {JSON: {"session_id": "ses_1", "run_id": "run_2", "message_id": "msg_4"}},
    },
    "GET /api/v1/chat/{session_id}/stream": {"200": {STREAM: _CHUNKS}, "204": {}},
    "GET /api/v1/runs/{run_id}": {"200": {JSON: _RUN}},
    "GET /api/v1/feed": {"200": {STREAM: _FEED}},
    "GET /api/v1/runs/{run_id}/events": {"200": {STREAM: _EVENTS}},
    "POST /api/v1/runs/{run_id}/cancel": {"202": {JSON: {"run_id": "run_1", "mode": "now"}}},
    "POST /api/v1/runs/{run_id}/messages": {
        "202": {JSON: {"message_id": "msg_3", "mode": "steer", "run_id": "run_1", "session_id": "s1"}}
    },
    "GET /api/v1/asks": {"200": {JSON: {"asks": [_ASK]}}},
    "POST /api/v1/asks/{ask_id}": {"200": {JSON: {"id": "ask_1", "state": "answered"}}},
    "POST /api/v1/asks/{ask_id}/claim": {"200": {JSON: {"id": "ask_1", "tab_id": "tab-1", "until": _MOMENT}}},
    "GET /api/v1/frames": {
        "200": {JSON: {"url": "https://a.example/", "verdict": "refused", "reason": "x-frame-options"}}
    },
    "GET /api/v1/policy/modes": {"200": {JSON: {"default": "default", "modes": ["plan", "default", "auto"]}}},
    "GET /api/v1/policy/remembered": {"200": {JSON: {"rules": [_REMEMBERED]}}},
    "DELETE /api/v1/policy/remembered/{rule_id}": {"200": {JSON: {**_REMEMBERED, "undone_at": _MOMENT}}},
    "POST /ai/tools/ack": {"200": {JSON: {"result": "resolved"}}, "202": {JSON: {"result": "stored"}}},
    "POST /api/v1/sessions/import": {"201": {JSON: _SESSION}},
    "GET /api/v1/sessions": {
        "200": {JSON: {"sessions": [{**_SESSION, "run_id": None, "places": []}], "cursor": None}}
    },
    "GET /api/v1/folders": {"200": {JSON: {"folders": [{"name": "Wood", "sessions": 2}]}}},
    "PATCH /api/v1/folders/{name}": {"200": {JSON: {"sessions": 2}}},
    "POST /api/v1/sessions": {"201": {JSON: _SESSION}},
    "GET /api/v1/sessions/{session_id}": {
        "200": {JSON: {**_SESSION, "run_id": None, "older": 0, "path": [{**_MESSAGE, "siblings": _SIBLINGS}]}}
    },
    "PATCH /api/v1/sessions/{session_id}": {"200": {JSON: _SESSION}},
    "DELETE /api/v1/sessions/{session_id}": {"204": {}},
    "GET /api/v1/sources/{kind}/{name}": {"200": {JSON: _SOURCE}},
    "POST /api/v1/sources/{kind}": {"201": {JSON: _SOURCE}},
    "PUT /api/v1/sources/{kind}/{name}": {"200": {JSON: _SOURCE}},
    "POST /api/v1/sources/{kind}/{name}/check": {
        "200": {JSON: {"error": "Missing front matter.", "hint": "Begin the file with `---`."}}
    },
    "DELETE /api/v1/sources/{kind}/{name}": {"204": {}},
    "POST /api/v1/sessions/{session_id}/shares": {"201": {JSON: _SHARE}},
    "GET /api/v1/sessions/{session_id}/shares": {"200": {JSON: {"shares": [_SHARE]}}},
    "DELETE /api/v1/sessions/{session_id}/shares/{token}": {"204": {}},
    "GET /api/v1/shared/{token}": {
        "200": {
            JSON: {
                "title": "Plans",
                "path": [{name: _MESSAGE[name] for name in ("id", "role", "parts", "created_at")}],
                "created_at": _MOMENT,
            }
        }
    },
    "GET /api/v1/sessions/{session_id}/children": {"200": {JSON: {"children": [_TASK]}}},
    "GET /api/v1/sessions/{session_id}/messages": {"200": {JSON: {"messages": [_MESSAGE], "cursor": None}}},
    "DELETE /api/v1/sessions/{session_id}/messages/{message_id}": {"200": {JSON: _SESSION}},
    "GET /api/v1/sessions/{session_id}/inbox": {
        "200": {
            JSON: {
                "messages": [
                    {
                        "id": "msg_3",
                        "kind": "queue",
                        "parts": [{"type": "text", "text": "Then translate it."}],
                        "created_at": _MOMENT,
                    }
                ]
            }
        }
    },
    "DELETE /api/v1/sessions/{session_id}/inbox/{message_id}": {"204": {}},
    "GET /api/v1/artifacts/{artifact_id}": {"200": {"text/plain": "The whole result of a tool."}},
    "GET /api/v1/sessions/{session_id}/export": {
        "200": {
            JSON: {**_SESSION, "messages": [_MESSAGE]},
            MARKDOWN: "# Plans\n\n## You\n\nHello\n",
        }
    },
    "GET /api/v1/schedules": {"200": {JSON: {"schedules": [_SCHEDULE]}}},
    "POST /api/v1/schedules": {"201": {JSON: {**_SCHEDULE, "last": None}}},
    "GET /api/v1/schedules/{schedule_id}": {"200": {JSON: {**_SCHEDULE, "ticks": [_TICK]}}},
    "PATCH /api/v1/schedules/{schedule_id}": {"200": {JSON: _SCHEDULE}},
    "DELETE /api/v1/schedules/{schedule_id}": {"204": {}},
    "POST /api/v1/schedules/{schedule_id}/run": {
        "202": {JSON: {**_TICK, "schedule_id": "sch_1", "state": "manual", "message_id": "msg_2"}}
    },
    **CATALOG,
    **OPERATION,
    "POST /v1/chat/completions": {
        "200": {
            JSON: _COMPLETION,
            STREAM: 'data: {"id":"run_1","object":"chat.completion.chunk","choices":[…]}\n\ndata: [DONE]\n\n',
        }
    },
    "GET /v1/models": {"200": {JSON: {"object": "list", "data": [_MODEL]}}},
    "GET /v1/models/{model}": {"200": {JSON: _MODEL}},
    "POST /api/v1/sign-in": {"200": {JSON: {"owner": "ann"}}},
    "DELETE /api/v1/sign-in": {"204": {}},
}
"""By route and status: the media types of a response, with an example of each."""
