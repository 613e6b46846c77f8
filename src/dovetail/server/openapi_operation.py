"""Examples of the responses for operators: runs, usage, processes, the policy, models and MCP servers."""

from typing import Any

from dovetail.server.openapi_catalog import JSON

_MOMENT = "2026-11-16T01:36:20.148Z"
_USAGE = {
    "input_tokens": 163,
    "output_tokens": 8,
    "cached_tokens": 0,
    "reasoning_tokens": 0,
    "cost": 0.0004,
    "cache_write_tokens": 0,
}
_LISTED: dict[str, Any] = {
    "id": "run_1",
    "owner": "ann",
    "agent": "master",
    "model": "openai:gpt-4.1",
    "session_id": "s1",
    "message_id": "msg_2",
    "title": "Plans",
    "state": "ended",
    "reason": "goal",
    "usage": _USAGE,
    "duration": 1.2,
    "waited": 0.0,
    "created_at": _MOMENT,
    "started_at": _MOMENT,
    "ended_at": _MOMENT,
}
_SUMS = {"cost": 0.0004, "input_tokens": 163, "output_tokens": 8, "unpriced_tokens": 0, "runs": 1}
_RULE: dict[str, Any] = {
    "id": None,
    "action": "ask",
    "tool": "*",
    "kinds": [],
    "arguments": {},
    "exact": None,
    "agent": "*",
    "modes": [],
    "priority": -1000,
    "name": "tools that change something",
    "reason": "it may change something outside",
    "owner": None,
    "source": "built-in",
    "path": None,
    "line": None,
}
_FILE = {
    "path": "policy.toml",
    "text": '[[rule]]\naction = "deny"\ntool = "delete_file"\n',
    "version": "9f86d081884c7d65",
    "problem": None,
}
_SERVER: dict[str, Any] = {
    "name": "github",
    "transport": "http",
    "address": "https://mcp.example/mcp",
    "state": "connected",
    "problem": None,
    "connected_at": _MOMENT,
    "tools": ["search_issues"],
    "trusted": False,
    "login": {"possible": True, "waiting": False, "done": True, "error": None},
    "log": [{"at": _MOMENT, "text": "The connection was lost: timeout"}],
}
_KEY = {
    "name": "openai",
    "title": "OpenAI",
    "source": "page",
    "variable": None,
    "ending": "4f2a",
    "variables": ["OPENAI_API_KEY"],
    "optional": False,
}

OPERATION: dict[str, dict[str, dict[str, Any]]] = {
    "GET /api/v1/runs": {
        "200": {JSON: {"runs": [_LISTED], "totals": {**_SUMS, "duration": 1.2}, "cursor": None}}
    },
    "GET /api/v1/runs/choices": {
        "200": {
            JSON: {
                "agents": ["master"],
                "models": ["openai:gpt-4.1"],
                "owners": ["ann"],
                "owner": "ann",
                "sees_all": False,
            }
        }
    },
    "GET /api/v1/usage": {
        "200": {
            JSON: {
                "by": "day",
                "from": "2026-10-18",
                "to": "2026-11-16",
                "rows": [{"key": "2026-11-16", **_SUMS}],
                "total": _SUMS,
            }
        }
    },
    "GET /api/v1/usage/today": {
        "200": {
            JSON: {
                "day": "2026-11-16",
                "total": _SUMS,
                "limits": [
                    {
                        "scope": "owner",
                        "name": "ann",
                        "limit": {"cost": 5.0, "calls": None},
                        "cost": 0.0004,
                        "calls": 1,
                    }
                ],
            }
        }
    },
    "GET /api/v1/workers": {
        "200": {
            JSON: {
                "process_id": "process_1",
                "processes": [
                    {
                        "id": "process_1",
                        "host": "web-1",
                        "pid": 41,
                        "role": "web",
                        "engine": "local",
                        "queues": ["default"],
                        "started_at": _MOMENT,
                        "seen_at": _MOMENT,
                        "is_alive": True,
                        "runs": 2,
                    }
                ],
                "queues": [{"name": "default", "queued": 0, "working": 2, "waiting": 1}],
            }
        }
    },
    "GET /api/v1/policy": {
        "200": {
            JSON: {
                "rules": [_RULE],
                "mode": "default",
                "max_mode": "auto",
                "modes": ["plan", "default", "auto", "yolo"],
                "problems": [],
                "notices": [],
            }
        }
    },
    "POST /api/v1/policy/try": {
        "200": {
            JSON: {
                "action": "ask",
                "reason": "it may change something outside",
                "rule": _RULE,
                "steps": [{"rule": _RULE, "mismatch": None, "condition": None}],
                "agent": "master",
            }
        }
    },
    "GET /api/v1/policy/file": {"200": {JSON: _FILE}},
    "PUT /api/v1/policy/file": {"200": {JSON: _FILE}},
    "POST /api/v1/policy/rules": {"201": {JSON: _FILE}},
    "DELETE /api/v1/policy/rules/{rule_id}": {"200": {JSON: _FILE}},
    "POST /api/v1/models/pull": {"202": {JSON: {"name": "local:small"}}},
    "DELETE /api/v1/models/pull": {"204": {}},
    "POST /api/v1/models/check": {
        "200": {
            JSON: {
                "name": "openai:gpt-4.1",
                "answer": "The capital of France is Paris.",
                "seconds": 0.62,
                "error": None,
                "hint": None,
            }
        }
    },
    "GET /api/v1/models/keys": {"200": {JSON: {"providers": [_KEY]}}},
    "PUT /api/v1/models/keys/{provider}": {"200": {JSON: _KEY}},
    "DELETE /api/v1/models/keys/{provider}": {"200": {JSON: _KEY}},
    "POST /api/v1/models/keys/{provider}/check": {
        "200": {JSON: {"state": "answers", "text": "answers", "models": 12}}
    },
    "GET /api/v1/servers": {"200": {JSON: {"servers": [_SERVER]}}},
    "POST /api/v1/servers/{name}/reconnect": {"200": {JSON: _SERVER}},
    "POST /api/v1/servers/{name}/login": {
        "200": {JSON: {"address": "https://login.example/authorize?response_type=code"}}
    },
    "DELETE /api/v1/servers/{name}/login": {"200": {JSON: _SERVER}},
}
