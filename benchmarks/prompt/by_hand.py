"""Hand-written renderers of the two prompts: no checks, no settings, no other slots."""

from typing import Any


def render(data: dict[str, Any]) -> str:
    """Render the whole prompt as one text."""
    lines = ["user:", "[SYSTEM]:", data["system"], ""]
    if "chat_history" in data:
        lines.append("[CHAT HISTORY]:")
        for message in data["chat_history"]:
            lines.append(f"[{message['role']}]:{message['content']}")
        lines.append("")
    lines.append(render_main(data))
    lines.append("assistant:")
    return "\n".join(lines)


def render_messages(data: dict[str, Any]) -> list[dict[str, str]]:
    """Render the prompt as chat messages."""
    messages = [{"role": "system", "content": data["system"]}]
    for message in data.get("chat_history", ()):
        messages.append({"role": message["role"], "content": message["content"]})
    messages.append({"role": "user", "content": render_main(data)})
    return messages


def render_main(data: dict[str, Any]) -> str:
    """Render the main part of the prompt."""
    lines: list[str] = []
    if "tools" in data:
        lines.append("[TOOLS]:")
        for tool in data["tools"]:
            lines += ["[", f"name: {tool['name']}", f"desc: {tool['desc']}"]
            lines += [
                f"kwargs: {structure(tool['kwargs'], '')}",
                f"returns: {structure(tool['returns'], '')}",
                "]",
            ]
    if "action_results" in data:
        lines.append("[ACTION RESULTS]:")
        for key, value in sorted(data["action_results"].items()):
            lines.append(f"{key}: {value}")
        lines += ["", ""]
    lines.append("[INFO]:")
    for key, value in data["info"].items():
        lines.append(f"- {key} : {value}")
    lines += ["", "[INSTRUCT]:"]
    if isinstance(data["instruct"], str):
        lines += [data["instruct"], ""]
    else:
        for line in data["instruct"]:
            lines.append(f"- {line}")
        lines += ["", ""]
    lines += ["[INPUT]:", data["input"], "", "[OUTPUT REQUIREMENT]:", "Data Format: JSON", "Data Structure:"]
    lines += [structure(data["output"], ""), "", "[OUTPUT]:"]
    return "\n".join(lines)


def structure(schema: Any, indent: str) -> str:
    """Render a schema as JSON with comments."""
    deeper = indent + "  "
    rows = []
    last = len(schema) - 1
    for number, (key, value) in enumerate(schema.items()):
        comma = "," if number < last else ""
        if isinstance(value, tuple):
            rows.append(f'{deeper}"{key}": <{value[0].__name__}>{comma} // {value[1]}')
        elif isinstance(value, list):
            rows.append(f'{deeper}"{key}": [')
            if isinstance(value[0], tuple):
                rows.append(f"{deeper}  <{value[0][0].__name__}>, // {value[0][1]}")
            else:
                rows.append(f"{deeper}  {structure(value[0], deeper + '  ')},")
            rows += [f"{deeper}  ...", f"{deeper}]{comma}"]
        else:
            rows.append(f'{deeper}"{key}": {structure(value, deeper)}{comma}')
    return "{\n" + "\n".join(rows) + f"\n{indent}}}"
