"""Templates of agent prompts: `${name}` is filled in, `$${` stands for a plain `${`."""

import re
from collections.abc import Mapping
from typing import Any

from dovetail.data.text import to_text
from dovetail.errors import ConfigError

_PLACEHOLDER = re.compile(r"\$(\$)\{|\$\{(\w+)\}")


def find_placeholders(text: str) -> set[str]:
    """The names that a template needs."""
    return {name for _, name in _PLACEHOLDER.findall(text) if name}


def fill_template(text: str, values: Mapping[str, Any]) -> str:
    """The text with every placeholder filled; missing names are an error that lists what there is.

    Text is filled in as it is, any other value as JSON: `true`, `null`, `["x"]`.
    """
    missing = sorted(find_placeholders(text) - set(values))
    if missing:
        raise ConfigError(
            f"the template needs {', '.join(missing)}, which were not given",
            hint=f"Given: {', '.join(sorted(values)) or 'nothing'}. Write $${{ for a plain ${{.",
        )
    return _PLACEHOLDER.sub(lambda match: "${" if match[1] else to_text(values[match[2]]), text)
