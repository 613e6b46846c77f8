"""`dovetail settings` lists what can be set, and what is set."""

from pathlib import Path

import pytest

from dovetail.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["settings", *words])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def test_settings_are_listed_with_type_default_and_variable(capsys: pytest.CaptureFixture[str]) -> None:
    code, listed, _ = run(capsys, "server")
    assert code == 0
    assert (
        "server.rate_limit  a whole number that is not negative, default 600\n    Requests per min" in listed
    )
    assert "    Environment: DOVETAIL_RATE_LIMIT\n" in listed
    assert "model." not in listed


def test_values_are_listed_with_their_source_and_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dovetail.toml").write_text("[server]\nrate_limit = 5\n")
    monkeypatch.setenv("DATABASE_URL", "postgresql://ann:geheim@127.0.0.1/chat")
    code, listed, _ = run(capsys, "--values", "--workspace", str(tmp_path))
    assert code == 0
    assert "server.rate_limit = 5  (dovetail.toml)\n" in listed
    assert "store.url = ***  (DATABASE_URL)\n" in listed
    assert 'server.log_level = "info"  (default)\n' in listed
    assert "geheim" not in listed


def test_unknown_setting_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, told = run(capsys, "server.rate_limt")
    assert code == 1
    assert "Unknown setting 'server.rate_limt'. Did you mean 'server.rate_limit'?" in told
