"""The public face is small, documented and light to import."""

import json
import subprocess
import sys

import pytest

import dovetail

HEAVY = {
    "aiohttp",
    "fastapi",
    "httpx",
    "jsonschema_rs",
    "langchain_core",
    "mcp",
    "pydantic",
    "rich",
    "sqlalchemy",
    "typer",
    "xllamacpp",
    "yaml",
}


def test_every_public_name_loads_and_says_what_it_is_for() -> None:
    for name in dovetail.__all__:
        value = getattr(dovetail, name)
        assert name == "__version__" or (value.__doc__ or "").strip(), f"{name} has no docstring"


def test_exports_are_sorted_and_complete() -> None:
    assert dovetail.__all__ == sorted(dovetail.__all__)
    assert dir(dovetail) == dovetail.__all__


def test_unknown_name_lists_the_exports() -> None:
    with pytest.raises(AttributeError, match=r"'Agnt'; it exports: .*Tool"):
        _ = getattr(dovetail, "Agn" + "t")


def test_import_loads_no_heavy_package() -> None:
    script = "import sys, json, dovetail; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(subprocess.check_output([sys.executable, "-c", script])))
    assert not HEAVY & loaded
