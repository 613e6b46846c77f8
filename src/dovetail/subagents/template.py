"""Templates of agent prompts: `${name}` is filled in, `$${` stands for a plain `${`."""

import re
from collections.abc import Mapping
from typing import Any

from dovetail.errors import ConfigError

_PLACEHOLDER = re.compile(r"\$(\$)\{|\$\{(\w+)\}")


def fill_template(text: str, values: Mapping[str, Any]) -> str:
    """The text with every placeholder filled; missing names are an error that lists what there is."""
    missing = sorted({name for _, name in _PLACEHOLDER.findall(text) if name and name not in values})
    if missing:
        raise ConfigError(
            f"the template needs {', '.join(missing)}, which were not given",
            hint=f"Given: {', '.join(sorted(values)) or 'nothing'}. Write $${{ for a plain ${{.",
        )
    return _PLACEHOLDER.sub(lambda match: "${" if match[1] else str(values[match[2]]), text)
