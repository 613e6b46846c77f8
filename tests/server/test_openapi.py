"""The OpenAPI document shows how each body looks."""

from pathlib import Path
from typing import Any

import jsonschema_rs

from dovetail.app import Dovetail
from dovetail.server.app import create_app


def find_bodies(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schemas of all bodies by their routes; one that may be left out is taken as if it were there."""
    found: dict[str, dict[str, Any]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if "requestBody" in operation:
                schema = operation["requestBody"]["content"]["application/json"]["schema"]
                found[f"{method} {path}"] = next(iter(schema.get("anyOf", [schema])))
    return found


def test_every_body_has_examples_and_they_are_valid(tmp_path: Path) -> None:
    document = create_app(Dovetail(workspace=tmp_path)).openapi()
    bodies = find_bodies(document)
    assert len(bodies) >= 9
    for route, schema in bodies.items():
        described = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        checker = jsonschema_rs.validator_for({**described, "components": document["components"]})
        assert described.get("examples"), f"{route} shows no example"
        for example in described["examples"]:
            checker.validate(example)


def test_every_route_says_what_it_is_for(tmp_path: Path) -> None:
    document = create_app(Dovetail(workspace=tmp_path)).openapi()
    for methods in document["paths"].values():
        assert all(operation["description"] for operation in methods.values())
