"""Every rule for the tools of a folder has a message of its own."""

from typing import Any

import pytest

from dovetail.events.call import Kind, ToolCall
from dovetail.extensions import ExtensionLoader
from dovetail.tools import RunContext, ToolContext, ToolRunner, ToolSnapshot
from dovetail.tools.preview import make_preview
from extension_folders import Folders, ask

GOOD = {
    "label": "'math'",
    "name": "'add'",
    "description": "'Adds'",
    "parameters": "{'a': {'type': 'number', 'required': True}}",
    "execute": "add",
}

TWO_NUMBERS = "{name: {'type': 'number', 'required': True} for name in ('a', 'b')}"


def write_definition(**changes: str | None) -> str:
    """An extension with one tool, some of its fields changed or (None) left out."""
    fields = {name: text for name, text in {**GOOD, **changes}.items() if text is not None}
    lines = "".join(f"    '{name}': {text},\n" for name, text in fields.items())
    return f"def add(a):\n    return a\n\nTOOL = {{\n{lines}}}\n"


@pytest.mark.parametrize("field", list(GOOD))
async def test_a_missing_field_is_named_with_its_line(folders: Folders, field: str) -> None:
    folders.write("one", write_definition(**{field: None}))
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert f"missing {field}" in failure.error
    assert (failure.file, failure.line) == (str(folders.root / "one" / "extension.py"), 4)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"label": "''"}, "label must be a non-empty string, got ''"),
        ({"name": "None"}, "name must be a non-empty string, got None"),
        ({"name": "'add two'"}, "name must be 1 to 64 letters, digits, _ or -, got 'add two'"),
        ({"description": "'  '"}, "description must be a non-empty string"),
        ({"parameters": "[]"}, "parameters must be a dict, got list"),
        ({"parameters": "{'a': 'number'}"}, "parameter 'a' must be a dict"),
        ({"execute": "'add'"}, "execute must be callable, got 'add'"),
        ({"execute": "print"}, "execute has no parameter a; expected one of: sep, end, file, flush"),
        ({"execute": "lambda: 1"}, "execute has no parameter a; expected one of: none"),
        ({"execute": "lambda town: 1"}, "execute has no parameter a; expected one of: town"),
        ({"parameters": "{}"}, "execute needs a, which the parameters do not declare"),
        ({"kind": "'destroy'"}, "Unknown kind 'destroy'. Expected one of: read, write"),
        ({"browser": "'yes'"}, "browser must be True or False, got 'yes'"),
        ({"browser": "True"}, "has both execute and browser"),
        ({"time_limit": "0"}, "time_limit must be a number of seconds above 0 or None, got 0"),
        ({"time_limit": "float('nan')"}, "time_limit must be a number of seconds above 0 or None, got nan"),
        ({"time_limit": "float('inf')"}, "time_limit must be a number of seconds above 0 or None, got inf"),
        (
            {"parameters": "{'type': 'object', 'properties': {'a': {'minimum': 'low'}}}"},
            "Invalid parameter schema of tool 'add'",
        ),
    ],
)
async def test_a_wrong_field_is_explained(folders: Folders, changes: dict[str, str], complaint: str) -> None:
    folders.write("one", write_definition(**changes))
    folders.write_tool("two", "ask_two")
    snapshot = await ExtensionLoader(folders.root).reload()
    [failure] = snapshot.failed_extensions
    assert complaint in failure.error
    assert failure.line == 4
    assert snapshot.loaded_extensions == ("two",)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("", "exports neither TOOL nor TOOLS"),
        ("TOOL = None\nTOOLS = []", "TOOLS is empty"),
        ("TOOLS = {'name': 'x'}", "TOOLS must be a list of dicts, got dict"),
        ("TOOLS = ['x']", "a tool must be a dict, got str"),
        ("TOOL = 'x'", "a tool must be a dict, got str"),
    ],
)
async def test_wrong_exports_are_explained(folders: Folders, source: str, complaint: str) -> None:
    folders.write("one", source)
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert failure.error.startswith(complaint)


async def test_the_line_of_the_wrong_tool_in_a_list_is_reported(folders: Folders) -> None:
    good = "dict(label='x', name='a', description='d', parameters={}, execute=print_it)"
    folders.write("one", f"def print_it(): ...\nTOOLS = [\n    {good},\n    {{'name': 'b'}},\n]\n")
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert (failure.line, "tool 'b'" in failure.error) == (4, True)


async def test_both_exports_mean_tool_and_are_noticed(folders: Folders) -> None:
    folders.write("one", write_definition() + "TOOLS = [{**TOOL, 'name': 'other'}]\n")
    snapshot = await ExtensionLoader(folders.root).reload()
    assert [tool.name for tool in snapshot.tools] == ["add"]
    assert "both TOOL and TOOLS" in snapshot.notices[0].text


async def test_an_unknown_field_is_noticed_with_the_near_one(folders: Folders) -> None:
    folders.write("one", write_definition(kinds="'read'"))
    snapshot = await ExtensionLoader(folders.root).reload()
    assert snapshot.notices[0].text == "tool 'add': Unknown field 'kinds'. Did you mean 'kind'?"


async def test_a_tool_of_the_browser_needs_no_function(folders: Folders) -> None:
    source = write_definition(execute=None, browser="True", time_limit="5")
    folders.write("one", source.replace("def add(a):\n    return a\n", ""))
    snapshot = await ExtensionLoader(folders.root).reload()
    [tool] = snapshot.tools
    assert (tool.needs_tab, tool.origin, tool.tags, tool.time_limit) == (
        True,
        "extension:one",
        ("math",),
        None,
    )
    assert snapshot.notices == ()
    asked: list[float | None] = []

    async def ask(kind: str, call_id: str, payload: Any, seconds: float | None) -> dict[str, Any]:
        asked.append(seconds)
        return {"status": "success", "output": payload["args"]["a"] + 1}

    call = ToolCall(call_id="c1", name="add", arguments={"a": 2})
    outcome = await ToolRunner().run_call(ToolSnapshot.of([tool]), call, RunContext(tab_id="t", ask=ask))
    assert (outcome.result.data, asked) == (3, [5.0])


async def test_a_browser_tool_without_a_required_field_is_an_error_that_lists_the_required_ones(
    folders: Folders,
) -> None:
    folders.write("one", write_definition(execute=None, browser="True", label=None))
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert "missing label" in failure.error


async def test_two_tools_of_one_name_in_one_folder_fail(folders: Folders) -> None:
    folders.write("one", write_definition() + "TOOLS = [TOOL, TOOL]\ndel TOOL\n")
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert "two tools have the name 'add'" in failure.error


async def test_a_folder_whose_rules_cannot_be_read_does_not_serve(folders: Folders) -> None:
    folders.write_tool("two", "ask_two")
    policy = folders.write("one", write_definition()) / "policy.toml"
    policy.write_text('[[rule]]\ntool = "add"\naction = "allow"\n')
    loader = ExtensionLoader(folders.root)
    snapshot = await loader.reload()
    [failure] = snapshot.failed_extensions
    assert "may deny and ask, but not allow" in failure.error
    assert (failure.file, failure.line, snapshot.loaded_extensions) == (str(policy), 1, ("two",))
    policy.write_text('\n[[rule]]\ntool = "add"\naction = "perhaps"\n')
    assert (await loader.reload()).failed_extensions[0].line == 2
    policy.write_text("\n\n[[rule\n")
    assert (await loader.reload()).failed_extensions[0].line == 3
    policy.write_text('[[rule]]\ntool = "add"\naction = "deny"\n')
    assert (await loader.reload()).policy_files == (policy,)
    policy.write_text("[[rule")
    assert (await loader.reload()).kept == ("one",)


MADE = '''
from dovetail import Kind, tool

@tool(kind=Kind.Read, display_name="Look up", tags=("stock",), time_limit=5)
def look_up(item: str, factor: float = 1) -> str:
    """Look something up.

    Args:
        item: what to look up
    """
    return f"{item} {factor}"

@tool
async def count(items: list[str]) -> int:
    """Count items."""
    return len(items)
'''


async def test_tools_made_with_the_decorator_can_be_exported(folders: Folders) -> None:
    folders.write("alpha", f"{MADE}\nTOOLS = [look_up, count]\n")
    folders.write("beta", f"{MADE.replace('look_up', 'find')}\nTOOL = find\n")
    snapshot = await ExtensionLoader(folders.root).reload()
    assert snapshot.failed_extensions == ()
    look_up, count, find = snapshot.tools
    assert (look_up.name, look_up.title, look_up.kind, look_up.time_limit) == (
        "look_up",
        "Look up",
        Kind.Read,
        5,
    )
    assert (look_up.tags, count.tags, find.origin) == (("stock",), ("alpha",), "extension:beta")
    assert look_up.parameters["properties"]["item"]["description"] == "what to look up"
    assert await ask(snapshot.tools, "look_up", item="oak", factor=2) == "oak 2.0"
    assert await ask(snapshot.tools, "count", items=["a", "b"]) == "2"


async def test_a_tool_made_with_the_decorator_can_be_the_execute_of_a_dict(folders: Folders) -> None:
    parameters = {"item": {"required": True}}
    entry = f"label='x', name='get', description='d', parameters={parameters}, execute=look_up"
    folders.write("alpha", f"{MADE}\nTOOL = dict({entry})\n")
    snapshot = await ExtensionLoader(folders.root).reload()
    assert await ask(snapshot.tools, "get", item="oak") == "oak 1"


async def test_functions_with_the_decorator_are_tools_without_an_export(folders: Folders) -> None:
    others = "_private = count\nagain = look_up\nfrom dovetail.tools.ask_user import ask_user\n"
    folders.write("alpha", MADE + others)
    folders.write("beta", "from .parts import find\n", parts=MADE.replace("look_up", "find"))
    snapshot = await ExtensionLoader(folders.root).reload()
    assert [(tool.name, tool.origin) for tool in snapshot.tools] == [
        ("look_up", "extension:alpha"),
        ("count", "extension:alpha"),
        ("find", "extension:beta"),
    ]
    assert await ask(snapshot.tools, "find", item="oak", factor=2) == "oak 2.0"


async def test_functions_with_the_decorator_are_tools_next_to_dicts(folders: Folders) -> None:
    entry = "label='x', name='get', description='d', parameters={'item': {}}, execute=look_up"
    folders.write("alpha", f"{MADE}\nTOOLS = [dict({entry})]\n")
    snapshot = await ExtensionLoader(folders.root).reload()
    assert [tool.name for tool in snapshot.tools] == ["get", "count"]  # `look_up` is what `get` executes


async def test_a_function_with_the_decorator_is_reloaded_and_may_not_take_a_name(folders: Folders) -> None:
    folders.write("alpha", MADE)
    loader = ExtensionLoader(folders.root)
    await loader.reload()
    folders.write("alpha", MADE.replace("len(items)", "len(items) * 10"))
    assert await ask((await loader.reload()).tools, "count", items=["a"]) == "10"
    folders.write("beta", "from dovetail import tool\n\n\n@tool\ndef count() -> str:\n    'Count.'\n")
    [failure] = (await loader.reload()).failed_extensions
    assert failure.error.startswith("Tool name 'count' already belongs to extension 'alpha'")
    assert (failure.extension, failure.line) == ("beta", 4)
    folders.write("beta", "from dovetail import tool\n\n@tool(description=' ')\ndef other(): pass\n")
    [failure] = (await loader.reload()).failed_extensions
    assert failure.error.startswith("tool 'other': description must not be empty")
    assert failure.line == 3
    await loader.close()


async def test_a_plain_function_is_explained(folders: Folders) -> None:
    folders.write("alpha", "def f(): pass\nTOOLS = [f]\n")
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert failure.error.startswith("a tool must be a dict, got function\nOr decorate a function with @tool")


async def test_a_langchain_tool_is_explained(folders: Folders) -> None:
    header = "from langchain_core.tools import tool\n\n@tool\ndef plane(): 'Plane.'\n"
    folders.write("alpha", f"{header}TOOLS = [plane]\n")
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert failure.error.endswith("(from dovetail.tools.langchain import from_langchain).")
    folders.write(
        "alpha",
        f"from dovetail.tools.langchain import from_langchain\n{header}TOOLS = [from_langchain(plane)]\n",
    )
    assert not (await ExtensionLoader(folders.root).reload()).failed_extensions


async def test_a_tool_may_have_a_title(folders: Folders) -> None:
    folders.write("one", write_definition(title="'Add numbers'"))
    snapshot = await ExtensionLoader(folders.root).reload()
    assert (snapshot.tools[0].title, snapshot.notices) == ("Add numbers", ())


@pytest.mark.parametrize("written", ['{"name": "x", "execute": f()}', "dict(name='x',\n  execute=f())"])
async def test_an_execute_that_is_called_by_mistake_is_explained(folders: Folders, written: str) -> None:
    folders.write("one", f"def f(options={{}}):\n    return options['path']\nTOOL = {written}\n")
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert failure.error.startswith("KeyError: 'path'\nLine ")
    assert "calls the function: pass it without parentheses" in failure.error


async def test_an_execute_that_is_the_result_of_a_call_is_explained(folders: Folders) -> None:
    folders.write("one", write_definition(execute="str(1)"))
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert "execute must be callable, got '1'\nPass the function itself" in failure.error


@pytest.mark.parametrize(
    "execute",
    [
        "def f(a: 'the first number', b: 'Nothing.at.all') -> 'NoSuchType': return a + b",
        "import threading\ndef f(a: threading.Lock, b: 3): return a + b",
        "def pass_on(function): return lambda *args, **kwargs: function(*args, **kwargs)\n"
        "@pass_on\ndef f(a, b): return a + b",
        "class Adder:\n    def __call__(self, a, b, call: ToolContext): return a + b\nf = Adder()",
        "from functools import partial\ndef add(zero, a, b, call: ToolContext): return a + b + zero\n"
        "f = partial(add, 0)",
        "class Sum(float):\n    def __new__(cls, a, b): return float(a + b)\nf = Sum",
    ],
)
async def test_any_callable_that_takes_the_parameters_executes_them(folders: Folders, execute: str) -> None:
    source = f"from dovetail.tools import ToolContext\n{execute}\n"
    folders.write("one", source + write_definition(execute="f", parameters=TWO_NUMBERS))
    snapshot = await ExtensionLoader(folders.root).reload()
    assert snapshot.failed_extensions == ()
    assert await ask(snapshot.tools, "add", a=1, b="2") == "3.0"


async def test_a_callable_without_a_signature_gets_all_arguments(folders: Folders) -> None:
    folders.write("one", write_definition(execute="dict", parameters=TWO_NUMBERS))
    snapshot = await ExtensionLoader(folders.root).reload()
    assert await ask(snapshot.tools, "add", a=1, b=2) == '{"a": 1.0, "b": 2.0}'


async def test_a_null_reaches_a_parameter_whatever_its_annotation(folders: Folders) -> None:
    source = "import datetime\ndef f(day: datetime.date): return repr(day)\n"
    folders.write("one", source + write_definition(execute="f", parameters="{'day': {'type': 'string'}}"))
    snapshot = await ExtensionLoader(folders.root).reload()
    assert await ask(snapshot.tools, "add") == "None"
    assert await ask(snapshot.tools, "add", day=None) == "None"


async def test_a_folder_shows_what_a_call_would_do_with_the_defaults_of_its_arguments(
    folders: Folders,
) -> None:
    folders.write(
        "one",
        """
from dovetail import tool

def show(arguments, context):
    return f"adds {arguments['a']} and {arguments['b']}"

async def show_made(arguments, context):
    return {"kind": "command", "command": f"make {arguments['what']}", "folder": "."}

@tool(preview=show_made)
def make(what: str) -> str:
    \"\"\"Make something.\"\"\"
    return what

NUMBERS = {"a": {"type": "number", "required": True}, "b": {"type": "number", "default": 2}}
ADD = {"label": "math", "name": "add", "description": "Adds", "parameters": NUMBERS,
       "execute": lambda a, b: a + b, "preview": show}
TOOLS = [ADD, make]
""",
    )
    add, make = (await ExtensionLoader(folders.root).reload()).tools
    context = ToolContext(call_id="c1")
    assert await make_preview(add, {"a": 1}, context) == {"kind": "text", "text": "adds 1 and 2"}
    shown = await make_preview(make, {"what": "cake"}, context)
    assert shown == {"kind": "command", "command": "make cake", "folder": "."}


async def test_a_preview_that_cannot_be_called_is_refused(folders: Folders) -> None:
    folders.write("one", write_definition(preview="'text'"))
    [failure] = (await ExtensionLoader(folders.root).reload()).failed_extensions
    assert "preview must be callable" in failure.error
