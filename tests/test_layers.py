"""Imports point down one written stack, modules have a sensible size, and tests mirror the tree."""

import ast
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "dovetail"

STACK = [
    ["__init__", "__main__"],
    ["bus", "messages", "subagents"],  # former places of policy, events and agents: re-exports only
    ["cli"],
    ["server"],
    ["sources"],
    ["app"],
    ["schedules"],
    ["sessions"],
    ["runs"],
    ["agents"],
    ["testing"],
    ["extensions", "skills", "prompts"],
    ["agent"],
    ["loop"],
    ["tools"],
    ["prompt", "requesters", "response", "policy"],
    ["schema"],
    ["store"],
    ["events"],
    ["settings"],
    ["data"],
    ["concurrency", "stall", "tracing"],
    ["errors", "lazy", "assets", "version", "ids"],
]

# In which parts (or single modules) an outside package may be imported.
HOME = {
    "aiohttp": {"requesters", "testing", "tools/public_address.py", "server/routes/frames.py"},
    "alembic": {"store"},
    "any_llm": {"requesters/any_llm.py"},
    "asyncpg": {"store"},
    "boto3": {"requesters/bedrock/credentials.py"},
    "cronsim": {"data/cron.py"},
    "dbos": {"runs"},
    "fastapi": {"server"},
    "json5": {"prompt", "data"},
    "jsonschema_rs": {"policy", "schema", "tools", "agents"},
    "langchain": {"requesters/langchain.py"},
    "langchain_core": {"tools/makers/langchain.py", "requesters/langchain.py"},
    "markdown_it": {"data/rich_view.py", "cli/chat/blocks.py"},
    "mcp": {"tools/mcp", "server/mcp.py", "cli"},
    "opentelemetry": {"tracing.py"},
    "platformdirs": {"requesters", "data/private_folder.py"},
    "prometheus_client": {"server"},
    "pydantic": {
        "prompt",
        "tools",
        "response",
        "agent",
        "agents",
        "skills",
        "extensions",
        "sessions",
        "runs",
        "server",
        "data",
        "schema",
        "testing",
    },
    "prompt_toolkit": {"cli/chat"},
    "rich": {"cli"},
    "sqlalchemy": {
        "store",
        "sessions/store.py",
        "sessions/rows.py",
        "sessions/search.py",
        "sessions/shares.py",
        "sessions/task_rows.py",
        "runs/store.py",
        "runs/ask_store.py",
        "runs/inbox.py",
        "runs/listing.py",
        "runs/usage.py",
        "runs/workers.py",
        "schedules/store.py",
    },
    "starlette": {"server"},
    "temporalio": {"runs"},
    "typer": {"cli"},
    "uvicorn": {"server", "cli"},
    "watchfiles": {"extensions"},
    "xllamacpp": {"requesters/local/llama.py"},
    "yaml": {"prompt", "requesters", "agents", "skills", "extensions", "agent", "data"},
}

LONGEST_MODULE = 450
SMALLEST_MODULE = 40
"""A shorter module must be imported by at least two others; otherwise it belongs into its importer."""

# Modules that a framework, the command line or the routing table finds by name, whatever their length.
ENTRY_POINTS = ("cli/commands/", "server/routes/", "store/migrations/")

# Former places of modules that documents name: they hold re-exports only, as every `__init__` does.
FACES = (
    "bus/",
    "messages/",
    "server/stream.py",
    "subagents/",
    *(f"tools/{name}.py" for name in ("audit", "browser", "kwargs", "langchain")),
)

PADDING = "x = 1\n" * SMALLEST_MODULE

TESTS = SOURCE.parent.parent / "tests"

# Folders of tests that follow a whole way through several modules, and single files of that kind.
FLOWS = {
    "conformance",
    "examples",
    "faults",
    "flows",
    "hostile",
    "programs",
    "reality",
    "resume",
    "shipped",
    "soak",
    "specification",
    "web",
}
FLOW_TESTS = {
    "agent/extensions/test_tool_mcp.py",
    "agents/test_bus.py",
    "agents/test_ends.py",
    "agents/test_tree.py",
    "agents/test_worked_example.py",
    "extensions/test_worked_examples.py",
    "policy/test_docs_rules.py",
    "prompt/test_docs.py",
    "prompt/test_edges.py",
    "prompt/test_golden.py",
    "prompt/test_properties.py",
    "requesters/openai/test_hostile.py",
    "response/test_golden.py",
    "runs/test_processes.py",
    "runs/test_unstorable.py",
    "server/test_acknowledge.py",
    "server/test_ai_client.py",
    "server/test_artifacts.py",
    "server/test_attachments.py",
    "server/test_cancel.py",
    "server/test_cancel_elsewhere.py",
    "server/test_client_page.py",
    "server/test_context.py",
    "server/test_fuzz.py",
    "server/test_hostile_text.py",
    "server/test_owners.py",
    "store/test_dump.py",
    "tools/mcp/test_hostile.py",
    "tools/pipeline/test_exactly_one.py",
}


def find_violations(source: Path) -> list[str]:
    """Every broken rule below `source`, as `path:line what is wrong`."""
    violations: list[str] = []
    graph: dict[str, set[str]] = {}
    small: dict[str, str] = {}
    for path in sorted(source.rglob("*.py")):
        relative = path.relative_to(source).as_posix()
        text = path.read_text(encoding="utf-8")
        if (length := text.count("\n")) > LONGEST_MODULE:
            violations.append(
                f"{relative}: {length} lines, at most {LONGEST_MODULE}: split it by responsibility"
            )
        tree = ast.parse(text)
        if _is_face(relative):
            violations += [f"{relative}:{line} a face holds re-exports only" for line in _find_own_code(tree)]
        elif length < SMALLEST_MODULE and not relative.startswith(ENTRY_POINTS):
            small[_module_name(relative)] = relative
        inside = graph.setdefault(_module_name(relative), set())
        for line, name in _imported_names(tree):
            if name.startswith("."):
                violations.append(f"{relative}:{line} a relative import hides where it points")
                continue
            target, is_inside = _resolve(source, name)
            if is_inside:
                inside.add(target)
                violations += _judge_inside(relative, line, target)
            else:
                violations += _judge_outside(relative, line, target)
    return violations + _find_fragments(small, graph) + _find_cycle(graph)


def _is_face(relative: str) -> bool:
    return relative.startswith(FACES) or relative.endswith("__init__.py")


def _find_own_code(tree: ast.Module) -> Iterator[int]:
    """The lines of statements that are neither imports, exports nor other names for what is imported."""
    for node in tree.body:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                pass
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assign(value=ast.Name()):
                pass
            case (
                ast.Assign(targets=[ast.Name(id="__all__" | "__getattr__")]) | ast.FunctionDef(name="__dir__")
            ):
                pass
            case _:
                yield node.lineno


def _find_fragments(small: dict[str, str], graph: dict[str, set[str]]) -> list[str]:
    """Small modules that at most one other module imports; faces do not count."""
    used: Counter[str] = Counter()
    for name, targets in graph.items():
        used.update(targets - {name})
    return [
        f"{relative}: under {SMALLEST_MODULE} lines and imported by {used[name]} module(s): merge it"
        for name, relative in small.items()
        if used[name] < 2 and not relative.endswith("__main__.py")
    ]


def _imported_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """All imports, also those inside functions, under TYPE_CHECKING and through `lazy("…")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{start}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lazy":
            yield from (
                (node.lineno, argument.value)
                for argument in node.args[:1]
                if isinstance(argument, ast.Constant)
            )


def _module_name(relative: str) -> str:
    return relative.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _resolve(source: Path, name: str) -> tuple[str, bool]:
    """The module below `source` that an import means, or the outside package."""
    package, *rest = name.split(".")
    if package != "dovetail":
        return package, False
    while rest:
        path = source.joinpath(*rest)
        if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
            return ".".join(rest), True
        rest.pop()
    return "__init__", True


def _level(part: str) -> int | None:
    return next((level for level, parts in enumerate(STACK) if part in parts), None)


def _judge_inside(relative: str, line: int, target: str) -> list[str]:
    importer = relative.split("/")[0].removesuffix(".py")
    imported = target.split(".")[0]
    if importer == imported:
        return []
    upper, lower = _level(importer), _level(imported)
    if upper is None or lower is None:
        return [f"{relative}:{line} {importer if upper is None else imported} is not in the stack"]
    if upper < lower:
        return []
    relation = "its equal" if upper == lower else "above it"
    return [f"{relative}:{line} {importer} imports {imported}, which is {relation} in the stack"]


def _judge_outside(relative: str, line: int, package: str) -> list[str]:
    homes = HOME.get(package)
    if homes is None or any(relative == home or relative.startswith(f"{home}/") for home in homes):
        return []
    return [f"{relative}:{line} {package} is at home in {', '.join(sorted(homes))}, not here"]


def _find_cycle(graph: dict[str, set[str]]) -> list[str]:
    # The root's lazy table names every public module; only what runs at import can make a cycle.
    edges = {name: targets - {name} for name, targets in graph.items() if name != "__init__"}
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return [f"cycle: {' -> '.join(error.args[1])}"]
    return []


def test_imports_point_down_the_stack() -> None:
    assert find_violations(SOURCE) == []


def test_random_numbers_of_a_program_are_left_alone() -> None:
    """A program that seeds `random` gets the same numbers, whatever the library does in its threads."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "random"
            ):
                assert node.attr in {"Random", "SystemRandom"}, f"{path}:{node.lineno}"


def find_strays(tests: Path, source: Path) -> list[str]:
    """Test files in the folders of the tree that are named after no module."""
    strays: list[str] = []
    for path in sorted(tests.glob("*/**/test_*.py")):
        relative = path.relative_to(tests)
        module = source / relative.parent / path.name.removeprefix("test_")
        names = (module, module.with_suffix(""), module.with_name(f"__{module.stem}__.py"))
        if relative.parts[0] not in FLOWS and not any(name.exists() for name in names):
            strays.append(relative.as_posix())
    return strays


def test_tests_mirror_the_tree() -> None:
    assert set(find_strays(TESTS, SOURCE)) - FLOW_TESTS == set()


def test_every_flow_test_of_the_list_exists() -> None:
    assert set(find_strays(TESTS, SOURCE)) >= FLOW_TESTS


def test_a_stray_test_file_is_found(tmp_path: Path) -> None:
    for path in ("source/data/paths.py", "source/testing/__main__.py", "tests/flows/test_reload.py"):
        _write(tmp_path / path, "")
    for path in ("tests/data/test_paths.py", "tests/testing/test_main.py", "tests/data/test_path.py"):
        _write(tmp_path / path, "")
    assert find_strays(tmp_path / "tests", tmp_path / "source") == ["data/test_path.py"]


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("data/paths.py", "from dovetail.tools.tool import Tool\n", "above it"),
        ("prompt/slots.py", "def late():\n    from dovetail.response.result import Result\n", "its equal"),
        ("data/paths.py", "if TYPE_CHECKING:\n    import dovetail.tools.tool\n", "above it"),
        ("data/paths.py", "from ..tools import tool\n", "relative import"),
        ("data/paths.py", "from . import sanitize\n", "relative import"),
        ("tools/registry.py", "import fastapi\n", "at home in server"),
        ("agent/base.py", "from dovetail.lazy import lazy\nuvicorn = lazy('uvicorn')\n", "at home in"),
        ("tools/tool.py", "import dovetail.tools.pipeline.runner\n", "cycle"),
        ("helpers/common.py", "import dovetail.errors\n", "not in the stack"),
        ("data/long.py", "x = 1\n" * 451, "451 lines"),
        ("data/fragment.py", "x = 1\n", "under 40 lines and imported by 0 module(s)"),
        ("tools/__init__.py", "LIMIT = 3\n", "a face holds re-exports only"),
        ("messages/call.py", "def make() -> None: ...\n", "a face holds re-exports only"),
    ],
)
def test_planted_violation_is_caught(tmp_path: Path, path: str, text: str, complaint: str) -> None:
    for name in ("tools/tool.py", "response/result.py", "errors.py", "lazy.py"):
        _write(tmp_path / name, PADDING)
    _write(tmp_path / "tools/pipeline/runner.py", f"import dovetail.tools.tool\n{PADDING}")
    assert find_violations(tmp_path) == []
    _write(tmp_path / path, text)
    assert complaint in "\n".join(find_violations(tmp_path))


def test_a_small_module_needs_two_importers(tmp_path: Path) -> None:
    _write(tmp_path / "data/units.py", "x = 1\n")
    _write(tmp_path / "data/paths.py", f"import dovetail.data.units\n{PADDING}")
    assert find_violations(tmp_path) == [
        "data/units.py: under 40 lines and imported by 1 module(s): merge it"
    ]
    _write(tmp_path / "data/shapes.py", f"from dovetail.data.units import x\n{PADDING}")
    assert find_violations(tmp_path) == []


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
