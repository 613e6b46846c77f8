"""docs/reference/http.md: every route of the server, from the OpenAPI document that it serves."""

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from documentation.markdown import block, code, head, join, json_block, table
from dovetail import Dovetail
from dovetail.server.app import create_app

INTRODUCTION = """\
All routes of `dovetail serve`. A running server has the same as an OpenAPI document at `/openapi.json`, and
[Write your own client](../client.md) explains how they are used together.

**API keys.** If the server has keys, send one as `Authorization: Bearer <key>`. **Errors** have a JSON body
with `error.type` for programs, `error.message` and `error.hint` for people, and `error.details`;
`error.remedy` is `keys` or `models` if an operator repairs it there. All routes below
`/api` and `/v1` may answer 401, 403, 429 and 503; the list of a route has its further errors.
"""
TITLES = {
    "chat": "Chat",
    "sessions": "Sessions",
    "runs": "Runs",
    "asks": "Questions",
    "feed": "News",
    "catalog": "Tools, agents, skills, prompts and extension folders",
    "schedules": "Schedules",
    "policy": "Policy",
    "models": "Models and keys",
    "servers": "MCP servers",
    "operation": "Usage and workers",
    "openai": "OpenAI-compatible",
    "access": "Sign in",
    "page": "For the page",
    "health": "Health",
}
"""The tags of the routes in the order of the page."""

OF_ALL = ("401", "403", "429", "503")
_RULE = re.compile(r" \((?:rules? )[A-Z]\d+[^)]*\)")


def write() -> str:
    """Return the page."""
    with tempfile.TemporaryDirectory() as workspace:
        document = create_app(Dovetail(workspace=Path(workspace))).openapi()
    schemas = document["components"]["schemas"]
    routes = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    tags = [*TITLES, *sorted({route[2]["tags"][0] for route in routes} - TITLES.keys())]
    errors = {
        status: answer["description"]
        for route in routes
        for status, answer in route[2]["responses"].items()
        if status >= "400" and "error" in str(answer.get("content", "")).lower()
    }
    return join(
        head("HTTP", "the OpenAPI document of the server", INTRODUCTION),
        json_block(schemas["Error"]["example"]),
        table(["Status", "Meaning"], sorted(errors.items())),
        *(
            part
            for tag in tags
            for part in [
                f"## {TITLES.get(tag, tag.capitalize())}",
                *(_describe_route(*route, schemas) for route in routes if route[2]["tags"][0] == tag),
            ]
        ),
        "## Bodies",
        "The fields of JSON bodies; those in bold are required.",
        *(_describe_schema(name, schema) for name, schema in sorted(schemas.items()) if "Error" not in name),
    )


def _describe_route(method: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    statuses = [status for status in operation["responses"] if status >= "400" and status not in OF_ALL]
    return join(
        f"### {code(f'{method} {path}')}",
        _RULE.sub("", operation.get("description", "")),
        table(["Parameter", "Type", "Meaning"], _list_parameters(operation)),
        *(_describe_body(body, schemas) if body else ()),
        *_describe_answers(operation["responses"]),
        f"Errors: {', '.join(statuses)}." if statuses else "",
    )


def _list_parameters(operation: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for parameter in operation.get("parameters", ()):
        name = code(parameter["name"]) + (", required" if parameter.get("required") else "")
        place = "" if parameter["in"] == "query" else f"in the {parameter['in']}"
        meaning = ". ".join(filter(None, [place, parameter.get("description", "").rstrip(".")]))
        yield name, describe_type(parameter["schema"]), meaning[:1].upper() + meaning[1:]


def _describe_body(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    name = describe_type(next(iter(schema.get("anyOf", [schema]))))
    yield f"Body: {name}"
    found = re.match(r"\[`(\w+)`\]", name)
    examples: list[Any] = schemas[found[1]].get("examples", []) if found else []
    yield json_block(examples[0]) if examples else ""


def _describe_answers(responses: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for status, answer in responses.items():
        if status >= "400":
            continue
        if not answer.get("content"):
            yield f"Response {status}: no content."
        for media, form in answer.get("content", {}).items():
            yield (
                f"Response {status}, {code(media)}:"
                if "example" in form
                else f"Response {status}: {code(media)}."
            )
            if "example" in form:
                example = form["example"]
                yield block("text", example) if isinstance(example, str) else json_block(example)


def _describe_schema(name: str, schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = (
        (
            f"**{code(field)}**" if field in required else code(field),
            describe_type(value),
            _show_default(value),
            value.get("description", ""),
        )
        for field, value in schema.get("properties", {}).items()
    )
    return join(
        f"### {name}",
        _RULE.sub("", schema.get("description", "")),
        table(["Field", "Type", "Default", "Meaning"], rows),
    )


def _show_default(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    return (
        "" if default is None else code(str(default).lower() if isinstance(default, bool) else str(default))
    )


def describe_type(schema: Mapping[str, Any]) -> str:
    """Return the type of a JSON value in words, with its limits."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{code(name)}](#{name.lower()})"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(describe_type(one) for one in schema[key]))
    if "enum" in schema:
        return ", ".join(code(str(value)) for value in schema["enum"])
    if "const" in schema:
        return code(str(schema["const"]))
    if schema.get("type") == "array":
        return f"list of {describe_type(schema.get('items', {}))}"
    name = schema.get("type", "any")
    limits = ", ".join(
        f"{words} {schema[key]}"
        for key, words in (
            ("minLength", "at least"),
            ("maxLength", "at most"),
            ("minimum", "from"),
            ("maximum", "to"),
        )
        if key in schema and not (key == "minLength" and schema[key] == 0)
    )
    return f"{name} ({limits})" if limits else str(name)
