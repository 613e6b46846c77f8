"""An extension folder declares its settings; people choose the values, and mistakes are named."""

from pathlib import Path

import pytest

from dovetail.data.secrets import SecretMask
from dovetail.extensions import ExtensionLoader, ExtensionSnapshot
from dovetail.extensions.loader import ExtensionHost
from dovetail.settings import open_settings
from dovetail.testing import call_folder_tool
from extension_folders import Folders, ask

SHOP = '''
from dovetail import tool
from dovetail.events.tool_context import ToolContext

SETTINGS = {
    "currency": {"type": "string", "description": "Of all prices", "default": "EUR"},
    "rate": {"type": "number", "default": 1},
    "open": {"type": "boolean", "default": True},
    "shops": {"type": "array", "default": []},
    "pin": {"type": "string", "secret": True},
}

def setup(context):
    context.state["seen"] = dict(context.settings)

@tool
def show(name: str, context: ToolContext) -> str:
    """Show a setting."""
    return repr(context.settings[name])
'''


async def load(folders: Folders, settings: dict[str, object] | None = None) -> ExtensionSnapshot:
    chosen = open_settings(settings, folders.root.parent)
    return await ExtensionLoader(folders.root, host=ExtensionHost(settings=chosen)).reload()


@pytest.fixture
def shop(tmp_path: Path) -> Folders:
    """A workspace with one folder that declares settings."""
    folders = Folders(tmp_path / "extensions")
    folders.write("shop", SHOP)
    return folders


def write_file(folders: Folders, text: str) -> None:
    (folders.root.parent / "dovetail.toml").write_text(text)


async def test_a_call_reads_defaults_the_file_the_environment_and_code(
    shop: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = await load(shop)
    assert await ask(snapshot.tools, "show", name="currency") == "'EUR'"
    assert await ask(snapshot.tools, "show", name="rate") == "1.0"
    assert await ask(snapshot.tools, "show", name="pin") == "None"
    write_file(shop, '[extensions.shop]\ncurrency = "CHF"\nrate = 2\npin = "1234"\n')
    snapshot = await load(shop)
    assert await ask(snapshot.tools, "show", name="currency") == "'CHF'"
    monkeypatch.setenv("DOVETAIL_EXTENSIONS_SHOP_CURRENCY", "USD")
    monkeypatch.setenv("DOVETAIL_EXTENSIONS_SHOP_OPEN", "no")
    monkeypatch.setenv("DOVETAIL_EXTENSIONS_SHOP_SHOPS", "Bern, Basel")
    snapshot = await load(shop)
    assert await ask(snapshot.tools, "show", name="currency") == "'USD'"
    assert await ask(snapshot.tools, "show", name="open") == "False"
    assert await ask(snapshot.tools, "show", name="shops") == "['Bern', 'Basel']"
    snapshot = await load(shop, {"extensions": {"shop": {"currency": "NOK"}}})
    assert await ask(snapshot.tools, "show", name="currency") == "'NOK'"
    assert await ask(snapshot.tools, "show", name="rate") == "2.0"
    assert [(each.key, each.value, each.source) for each in snapshot.settings["shop"].shown] == [
        ("extensions.shop.currency", '"NOK"', "code"),
        ("extensions.shop.rate", "2.0", "dovetail.toml"),
        ("extensions.shop.open", "false", "DOVETAIL_EXTENSIONS_SHOP_OPEN"),
        ("extensions.shop.shops", '["Bern", "Basel"]', "DOVETAIL_EXTENSIONS_SHOP_SHOPS"),
        ("extensions.shop.pin", "***", "dovetail.toml"),
    ]


@pytest.mark.parametrize(
    ("chosen", "complaint"),
    [
        (
            "curency = 'x'",
            "Unknown setting 'extensions.shop.curency'. Did you mean 'extensions.shop.currency'?",
        ),
        ("colour = 'x'", "Unknown setting 'extensions.shop.colour'. Expected one of: currency, rate"),
        (
            "rate = 'x'",
            "Invalid setting 'extensions.shop.rate' (dovetail.toml): `rate` must be number, got \"x\"",
        ),
        ("pin = 123456", "Invalid setting 'extensions.shop.pin' (dovetail.toml): it must be string or null."),
        ("currency = '${NOT_SET}'", "Environment variable NOT_SET is not set, but the setting"),
    ],
)
async def test_a_wrong_value_fails_the_folder_alone(shop: Folders, chosen: str, complaint: str) -> None:
    shop.write_tool("other", "other")
    write_file(shop, f"[extensions.shop]\n{chosen}\n")
    snapshot = await load(shop)
    [failure] = snapshot.failed_extensions
    assert failure.error.startswith(complaint)
    assert snapshot.loaded_extensions == ("other",)
    assert "123456" not in failure.error


async def test_a_misspelt_or_wrong_variable_is_named(shop: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_EXTENSIONS_SHOP_RATE", "much")
    [failure] = (await load(shop)).failed_extensions
    assert "(DOVETAIL_EXTENSIONS_SHOP_RATE): `rate` must be number" in failure.error
    monkeypatch.delenv("DOVETAIL_EXTENSIONS_SHOP_RATE")
    monkeypatch.setenv("DOVETAIL_EXTENSIONS_SHOP_CURENCY", "USD")
    [failure] = (await load(shop)).failed_extensions
    assert "Did you mean 'DOVETAIL_EXTENSIONS_SHOP_CURRENCY'?" in failure.error
    monkeypatch.delenv("DOVETAIL_EXTENSIONS_SHOP_CURENCY")
    monkeypatch.setenv("DOVETAIL_EXTENSIONS_SHOP_EU_CURRENCY", "USD")  # of a folder `shop_eu`, perhaps
    assert (await load(shop)).failed_extensions == ()


@pytest.mark.parametrize(
    ("declared", "complaint"),
    [
        ("['currency']", "SETTINGS: must be a dict, got list"),
        ("{'two words': {}}", "SETTINGS: a name must have letters, digits and _ only, got 'two words'"),
        ("{'rate': 3}", "SETTINGS: 'rate' must be a dict such as"),
        ("{'type': 'object', 'properties': {}}", "SETTINGS: 'type' must be a dict such as"),
        ("{'rate': {'type': 'number', 'default': 'x'}}", "Invalid setting 'extensions.bad.rate' (default)"),
        ("{'key': {'required': True}}", "Missing setting 'extensions.bad.key': string.\nWrite it below"),
    ],
)
async def test_a_wrong_declaration_is_explained(tmp_path: Path, declared: str, complaint: str) -> None:
    folders = Folders(tmp_path / "extensions")
    folders.write("bad", f"SETTINGS = {declared}\nTOOLS = []\n")
    [failure] = (await load(folders)).failed_extensions
    assert failure.error.startswith(complaint)


def test_a_test_of_the_folder_has_its_settings(shop: Folders) -> None:
    write_file(shop, '[extensions.shop]\ncurrency = "CHF"\n')
    assert call_folder_tool(shop.root / "shop", name="currency") == "'CHF'"


def test_a_secret_of_a_folder_is_masked_in_texts(shop: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_EXTENSIONS_SHOP_TOKEN", "correct-horse")
    write_file(shop, '[extensions.other]\napi_key = "battery-staple"\n')
    mask = SecretMask.of(open_settings(None, shop.root.parent))
    assert mask.apply("correct-horse battery-staple") == "*** ***"
