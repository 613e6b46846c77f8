"""The `weather`, `example`, `calculator` and `todos` folders."""

from pathlib import Path

import pytest

from dovetail.extensions import ExtensionSnapshot
from dovetail.tools import ToolContext
from dovetail.tools.preview import make_preview
from extension_folders import ask, call_tool


async def test_all_shipped_folders_load_without_a_word(shipped: ExtensionSnapshot) -> None:
    assert (shipped.failed_extensions, shipped.notices) == ((), ())
    assert shipped.loaded_extensions == ("calculator", "example", "files", "shell", "todos", "weather", "web")


async def test_weather(shipped: ExtensionSnapshot) -> None:
    assert await ask(shipped.tools, "get_weather", city="Rome") == "Rome current temperature is 26°C (mock)."
    assert "79°F" in await ask(shipped.tools, "get_weather", city="Rome", unit="F ")
    assert await ask(shipped.tools, "get_weather", city="Rome", unit="k") == "unit must be 'c' or 'f'"


async def test_example(shipped: ExtensionSnapshot) -> None:
    assert await ask(shipped.tools, "add", a=1.5, b=2) == "3.5"
    assert await ask(shipped.tools, "multiply", a=3, b=4) == "12.0"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("127 * 49", "6223"),
        ("127 \u00d7 49", "6223"),
        ("(1 + 2) * 3 - 4 / 2", "7"),
        ("2 ** 10 + 2^3", "1032"),
        ("-7 // 2", "-4"),
        ("7 % 4", "3"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("1e3", "1000"),
        ("sqrt(2) * sqrt(2)", "2.0000000000000004"),
        ("round(2 * pi, 2)", "6.28"),
        ("round(1234, -2) + round(2.5) + round(7, 1000)", "1209"),
        ("max(1, 2, 3) + abs(-4)", "7"),
        ("123456789 * 987654321", "121932631112635269"),
    ],
)
async def test_calculator(shipped: ExtensionSnapshot, expression: str, value: str) -> None:
    assert await ask(shipped.tools, "calculate", expression=expression) == value


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("", "1 to 1000 characters"),
        ("1 +", "Invalid arithmetic expression"),
        ("1 / 0", "division by zero"),
        ("9 ** 9 ** 9", "at most 10000"),
        ("99999999 ** 9999", "too many digits"),
        ("sqrt(-1)", "Cannot calculate"),
        ("(-1) ** 0.5", "not a real number"),
        ("sqrt(1, 2)", "Cannot calculate"),
        ("__import__('os').system('id')", "is not allowed"),
        ("open('x')", "is not allowed"),
        ("'a' * 3", "is not allowed"),
        ("True + 1", "is not allowed"),
        ("(lambda: 1)()", "is not allowed"),
        ("x := 3", "Invalid arithmetic expression"),
        ("(" * 400 + "1" + ")" * 400, "too many nested parentheses"),
        ("9 ** 9 ** 4 ** 2", "at most 10000"),
        ("10 ** 400 * 1.5", "Cannot calculate"),
        ("round(5, -20000000)", "round(…, -20000000) exceeds the limit of 1000 digits"),
        ("round(5, -10 ** 400)", "exceeds the limit of 1000 digits"),
        ("round(2.5, 10 ** 9)", "exceeds the limit of 1000 digits"),
        ("round(5, 1e400)", "exceeds the limit of 1000 digits"),
        ("round(5, 0.5)", "Cannot calculate"),
        ("round(5, -20000000, 1)", "Cannot calculate"),
        ("10 ** 10 ** 8", "at most 10000"),
        ("(10 ** 4000) ** 10000", "too many digits"),
        ("2 ** (1e400 - 1e400) * 10 ** 5000", "too many digits"),
        ("1.5 ** 10000", "Cannot calculate"),
        ("*".join(["9 ** 4000"] * 60), "too many digits"),
        ("1 << 10 ** 9", "is not allowed"),
        ("10 ** 9 >> 1", "is not allowed"),
        ("factorial(10 ** 7)", "is not allowed"),
        ("comb(10 ** 6, 500000)", "is not allowed"),
        ("perm(10 ** 6)", "is not allowed"),
        ("gcd(2, 4)", "is not allowed"),
        ("pow(3, 10 ** 9, 10 ** 9)", "is not allowed"),
        ("int('9' * 10 ** 9)", "is not allowed"),
        ("'x' * 10 ** 9", "is not allowed"),
        ("[0] * 10 ** 9", "is not allowed"),
        ("sum(range(10 ** 9))", "is not allowed"),
        ("exp(10 ** 4)", "Cannot calculate"),
        ("ceil(1e400)", "Cannot calculate"),
        ("max()", "Cannot calculate"),
        ("-" * 999 + "1", "nested too deeply"),
        ("1\0", "invalid character"),
        ("9" * 900 + " ** 9999", "too many digits"),
    ],
)
async def test_calculator_says_why_not(shipped: ExtensionSnapshot, expression: str, complaint: str) -> None:
    outcome = await call_tool(shipped.tools, "calculate", expression=expression)
    assert outcome.status == "error"
    assert complaint in outcome.result.llm_content


async def test_a_command_and_a_request_are_shown_before_they_are_approved(
    shipped: ExtensionSnapshot, workspace: Path
) -> None:
    (workspace / "app").mkdir()
    found = {tool.name: tool for tool in shipped.tools}
    context = ToolContext(call_id="c1")
    command = await make_preview(found["run_shell_command"], {"command": "ls -l", "cwd": "app"}, context)
    assert command == {"kind": "command", "command": "ls -l", "folder": "app"}
    request = await make_preview(found["fetch_url"], {"url": "https://a.example/x"}, context)
    assert request == {"kind": "request", "method": "GET", "url": "https://a.example/x"}


def _todo(content: str, status: str) -> dict[str, str]:
    return {"content": content, "status": status}


@pytest.mark.parametrize(
    ("todos", "report"),
    [
        ([], "The to-do list is empty."),
        ([_todo("Saw", "pending"), _todo("Plane", "pending")], "0 of 2 done. Next: Saw."),
        ([_todo("Saw", "completed"), _todo("Plane", "in_progress")], "1 of 2 done. In progress: Plane."),
        ([_todo("Saw", "completed")], "The to-do list is done."),
    ],
)
async def test_a_to_do_list_is_reported_to_the_model(
    shipped: ExtensionSnapshot, todos: list[dict[str, str]], report: str
) -> None:
    assert await ask(shipped.tools, "write_todos", todos=todos) == report


async def test_a_to_do_list_needs_no_approval_and_is_checked(shipped: ExtensionSnapshot) -> None:
    [tool] = [each for each in shipped.tools if each.name == "write_todos"]
    assert tool.kind.is_read_only
    assert "`todos[0].status`" in await ask(shipped.tools, "write_todos", todos=[_todo("Saw", "half")])
    assert "at most 50" in await ask(shipped.tools, "write_todos", todos=[_todo("Saw", "pending")] * 51)
    assert "Entry 1" in await ask(shipped.tools, "write_todos", todos=[_todo(" ", "pending")])
