"""The mode of a run: the settings' own, or one that they let a client ask for."""

import pytest

from dovetail.errors import ConfigError
from dovetail.policy.mode import choose_mode
from dovetail.settings import Settings, default_settings


def test_mode_is_the_settings_own_unless_a_stricter_one_is_wanted() -> None:
    settings = default_settings()
    assert (choose_mode(settings), choose_mode(settings, "plan")) == ("default", "plan")
    settings.set("policy.mode", "auto")
    assert (choose_mode(settings), choose_mode(settings, "auto")) == ("auto", "auto")


@pytest.mark.parametrize(("wanted", "most"), [("auto", "default"), ("yolo", "auto")])
def test_freer_mode_must_be_allowed_by_the_settings(wanted: str, most: str) -> None:
    settings = default_settings()
    settings.set("policy.max_mode", most)
    with pytest.raises(ConfigError, match=f"Mode '{wanted}' is not allowed"):
        choose_mode(settings, wanted)
    settings.set("policy.max_mode", "yolo")
    assert (choose_mode(settings, wanted), choose_mode(settings)) == (wanted, "default")


def test_unknown_modes_are_refused() -> None:
    with pytest.raises(ConfigError, match="Unknown mode 'fast'"):
        choose_mode(default_settings(), "fast")
    with pytest.raises(ConfigError, match=r"policy\.mode must be one of: plan, default, auto, yolo, got 5"):
        choose_mode(Settings({"policy": {"mode": 5}}))
