"""What a settings file holds as text is masked wherever its secrets stand, and words are not."""

import re
from pathlib import Path

import pytest

from dovetail.data import known_secrets
from dovetail.data.known_secrets import hide_known
from dovetail.settings import open_settings

FILE = """
[model]
api_key = "S-literal-that-is-overridden"
body = { user = "plain-user-name", secret_field = "S-in-the-body" }
headers = { X-Gateway = "S-of-the-gateway", Accept = "application/json" }
[model.providers.mine]
base_url = "http://user-1:pw%2FS@127.0.0.1:9/v1?key=S-in-the-query&api-version=2024-10-21-preview"
proxy = "http://S-user-is-a-token@proxy.example:80"
[server]
api_keys = "ann:S-of-ann-12345,bob:S-of-bob-12345"
admin_token = "S-admin-token-1"
[runs]
dbos_url = "postgresql://u:S-of-the-database@127.0.0.1:9/database_of_the_runs"
[store]
url = "sqlite:///chats.db"
[extensions.weather]
city = "Garmisch-Partenkirchen"
api_key = "S-of-a-folder"
private_key = '''
S-first-line-of-it
S-second-line-of-it
'''
[mcp.servers.remote]
url = "https://mcp.example/s/S8d7f6a5b4c3d2e1f0a9b8c7/mcp?api_key=S-in-an-address"
headers = { Authorization = "Bearer S-of-a-header", X-Custom = "S-of-custom-header" }
[mcp.servers.local]
command = "/usr/bin/example-server"
args = ["--root", "/srv/example-folder", "--token", "S-after-an-option", "--api-key=S-with-an-option",
    "--header", "Authorization:S-in-an-argument", "MY_TOKEN=S-in-a-variable"]
[mcp.servers.local.env]
DB = "postgres://user:S-short@h/x"
FOO = "S-in-any-variable"
KEPT = "/srv/example-folder"
FILLED = "${TOKEN_OF_THE_ENVIRONMENT}"
"""


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_secrets, "_known", ())
    monkeypatch.setattr(known_secrets, "_files", {})


def test_no_secret_of_the_file_is_shown_whatever_overrides_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOVETAIL_API_KEY", "of-the-environment")
    (tmp_path / "dovetail.toml").write_text(FILE)
    open_settings(None, tmp_path)
    shown = hide_known(FILE)
    assert re.findall(r".*S-.*|.*S8.*|.*pw%2F.*", shown) == []
    for kept in (
        *("application/json", "plain-user-name", "2024-10-21-preview", "database_of_the_runs"),
        *("sqlite:///chats.db", "Garmisch-Partenkirchen", "https://mcp.example/s/", "127.0.0.1:9"),
        *("/srv/example-folder", "/usr/bin/example-server", "${TOKEN_OF_THE_ENVIRONMENT}"),
    ):
        assert kept in shown


def test_a_secret_that_is_added_to_the_file_is_masked_without_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "dovetail.toml"
    open_settings({}, tmp_path)
    line = '[server]\nadmin_token = "S-added-later-1"\n'
    assert hide_known(line) == line
    file.write_text(line)
    assert hide_known(line) == '[server]\nadmin_token = "***"\n'
