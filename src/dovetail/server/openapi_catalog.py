"""Examples of responses: the catalog of tools, agents, skills, prompts, models and extension folders."""

from collections.abc import Mapping
from typing import Any

JSON = "application/json"
_MASTER = "The assistant of a chat; it answers questions and uses tools where they help."
_EXTENSIONS: dict[str, Any] = {
    "version": 1,
    "loaded_extensions": ["weather"],
    "failed_extensions": [],
    "tools": ["get_weather"],
    "kept": [],
    "loading": [],
    "removed": [],
    "unchanged": [],
    "excluded": ["example"],
    "notices": [],
    "web": {"weather": ["/ext/weather/5f1c9d07ab3e2468/weather.js"]},
    "agents": {"new": ["scout"], "changed": [], "removed": [], "failed": []},
    "skills": {"failed": []},
    "prompts": {"failed": []},
    "policy": {"failed": [], "notices": []},
}
_TOOL = {
    "name": "calculate",
    "title": "Calculate",
    "description": "Calculate an arithmetic expression exactly.",
    "kind": "think",
    "origin": "extension:calculator",
    "tags": ["math"],
    "needs_tab": False,
    "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}},
}

CATALOG: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "GET /api/v1/tools": {"200": {JSON: {"generation": 1, "tools": [_TOOL], "errors": []}}},
    "POST /api/v1/tools/{name}/call": {
        "200": {
            JSON: {
                "call_id": "call_1",
                "status": "ok",
                "result": {"llm_content": "42"},
                "error": None,
                "duration": 0.001,
            }
        },
        "202": {JSON: {"run_id": "run_1", "call_id": "call_1"}},
    },
    "GET /api/v1/agents": {
        "200": {
            JSON: {
                "agents": [
                    {
                        "name": "master",
                        "title": "Assistant",
                        "description": _MASTER,
                        "model": None,
                        "tools": ["*"],
                        "source": "agents/master.md",
                    }
                ],
                "disabled": [],
                "errors": [],
                "notices": [],
            }
        }
    },
    "GET /api/v1/skills": {
        "200": {
            JSON: {
                "skills": [
                    {
                        "name": "haiku",
                        "description": "How to write a haiku.",
                        "scope": "workspace",
                        "path": "skills/haiku/SKILL.md",
                        "allowed_tools": None,
                    }
                ],
                "errors": [],
            }
        }
    },
    "GET /api/v1/prompts": {
        "200": {
            JSON: {
                "prompts": [
                    {
                        "name": "translate",
                        "title": "Translate",
                        "description": "Translate a text and keep its tone.",
                        "path": "prompts/translate.yaml",
                        "variables": [
                            {
                                "name": "language",
                                "description": "The language to translate into.",
                                "default": "English",
                                "required": False,
                                "choices": [],
                            }
                        ],
                    }
                ],
                "errors": [],
            }
        }
    },
    "POST /api/v1/prompts/{name}/render": {
        "200": {
            JSON: {
                "text": "Translate into French: Good morning.",
                "messages": [{"role": "user", "content": "Translate into French: Good morning."}],
            }
        }
    },
    "GET /api/v1/models": {
        "200": {
            JSON: {
                "models": [
                    {
                        "name": "openai:gpt-4.1",
                        "title": "openai:gpt-4.1",
                        "state": "ready",
                        "active": True,
                        "free": False,
                        "price": {"input": 2.0, "output": 8.0},
                        "context_tokens": 1_047_576,
                    }
                ]
            }
        }
    },
    "GET /api/v1/extensions": {"200": {JSON: {**_EXTENSIONS, "watching": False}}},
    "POST /api/v1/extensions/reload": {"200": {JSON: _EXTENSIONS}},
}
