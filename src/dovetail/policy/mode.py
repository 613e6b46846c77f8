"""The mode that calls run in: what the settings choose, and what a client may ask for.

`policy.mode` applies by default. A client may ask for any mode that is not less strict than both
`policy.mode` and `policy.max_mode`.
"""

from dovetail.data.text import explain_choices
from dovetail.errors import ConfigError
from dovetail.policy.rule import MODES, Mode
from dovetail.settings import Settings
from dovetail.settings.sections import PolicySettings


def read_mode(name: object) -> Mode:
    """Return a mode by its name.

    Raises:
        ConfigError: the mode is unknown.
    """
    for known in MODES:
        if name == known:
            return known
    raise ConfigError(explain_choices("mode", name, MODES))


def choose_mode(settings: Settings, wanted: str | None = None) -> Mode:
    """Return the mode of a run.

    Raises:
        ConfigError: the mode is unknown, or less strict than the settings allow.
    """
    own = settings.section(PolicySettings).mode
    if wanted is None:
        return own
    mode, most = read_mode(wanted), find_freest_mode(settings)
    if MODES.index(mode) > MODES.index(most):
        raise ConfigError(
            f"Mode {mode!r} is not allowed; the least strict mode allowed is {most!r}.",
            hint="The server setting `policy.max_mode` limits the modes of clients.",
        )
    return mode


def find_freest_mode(settings: Settings) -> Mode:
    """Return the least strict mode that a client may ask for."""
    policy = settings.section(PolicySettings)
    return policy.mode if MODES.index(policy.mode) > MODES.index(policy.max_mode) else policy.max_mode
