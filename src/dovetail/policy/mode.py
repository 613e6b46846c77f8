"""The mode that calls run in: what the settings choose, and what a client may ask for.

`policy.mode` holds where nothing else is asked for. A client may ask for any mode that is not freer than both
`policy.mode` and `policy.max_mode`.
"""

from dovetail.data.text import explain_choices
from dovetail.errors import ConfigError
from dovetail.policy.rule import MODES, Mode
from dovetail.settings import Settings
from dovetail.settings.sections import PolicySettings


def read_mode(name: object) -> Mode:
    """A mode by its name.

    Raises:
        ConfigError: there is no such mode.
    """
    for known in MODES:
        if name == known:
            return known
    raise ConfigError(explain_choices("mode", name, MODES))


def choose_mode(settings: Settings, wanted: str | None = None) -> Mode:
    """The mode of a run.

    Raises:
        ConfigError: a setting or `wanted` names no mode, or `wanted` is freer than the settings allow.
    """
    own = settings.section(PolicySettings).mode
    if wanted is None:
        return own
    mode, most = read_mode(wanted), find_freest_mode(settings)
    if MODES.index(mode) > MODES.index(most):
        raise ConfigError(
            f"The mode {mode!r} is not allowed here; the freest one is {most!r}.",
            hint="The setting `policy.max_mode` of the server says what clients may ask for.",
        )
    return mode


def find_freest_mode(settings: Settings) -> Mode:
    """The freest mode that a client may ask for."""
    policy = settings.section(PolicySettings)
    return policy.mode if MODES.index(policy.mode) > MODES.index(policy.max_mode) else policy.max_mode
