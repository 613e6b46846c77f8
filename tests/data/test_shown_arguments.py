"""What a person sees of the arguments of a call, and what the call gets back."""

from typing import Any

import pytest

from dovetail.data import known_secrets
from dovetail.data.known_secrets import protect
from dovetail.data.shown_arguments import ShownArguments, find_edit_problem, show_arguments

ARGS = {
    "url": "https://a.example",
    "headers": [{"name": "x", "token": "tok-1234"}],
    "password": "hunter22",
    "text": "x" * 900,
}
TOKEN, PASSWORD = "*** (secret 1, 8 characters)", "*** (secret 2, 8 characters)"
SHOWN = {**ARGS, "headers": [{"name": "x", "token": TOKEN}], "password": PASSWORD}
KEY = "sk-ant-api03-Zq8vK1mT5xR2wLr7yB"
ANN, BOB = {"user": "ann", "password": "ANN-PASS"}, {"user": "bob", "password": "BOB-PASS"}


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_secrets, "_known", ())
    monkeypatch.setattr(known_secrets, "_files", {})


def restore(edited: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    return ShownArguments(arguments).restore(edited)


def test_secrets_are_masked_by_their_names_with_their_length_and_nothing_is_cut() -> None:
    assert show_arguments(ARGS) == SHOWN
    assert show_arguments({"token": None, "password": "", "secret": True}) == {
        "token": None,
        "password": "",
        "secret": True,
    }
    assert show_arguments({"pin": 1234, "passwords": ["a", ["bc"]]}) == {
        "pin": "*** (secret 1, 4 characters)",
        "passwords": ["*** (secret 2, 1 character)", ["*** (secret 3, 2 characters)"]],
    }


def test_an_object_is_shown_whatever_its_key_is_named() -> None:
    body = {"token": {"action": "transfer", "to": "mallory", "amount": 10000}, "secret": [{"to": "eve"}]}
    assert show_arguments({"body": body}) == {"body": body}


@pytest.mark.parametrize(
    "name",
    [
        "secret_name",
        "secret_id",
        "token_id",
        "credential_name",
        "key_file",
        "token-path",
        "secretName",
        "tokenID",
    ],
)
def test_the_name_or_the_place_of_a_secret_is_shown(name: str) -> None:
    assert show_arguments({name: "production-db"}) == {name: "production-db"}


def test_a_known_secret_is_masked_wherever_it_stands_and_can_be_edited_around() -> None:
    protect([KEY, f"{KEY}-longer"])
    arguments = {
        "secret_name": KEY,
        "command": f"curl -u {KEY}:{KEY}-longer a.example",
        KEY: {"password": "x"},
    }
    shown = show_arguments(arguments)
    assert KEY not in str(shown)
    command = shown["command"]
    assert command == "curl -u *** (secret 4, 31 characters):*** (secret 3, 38 characters) a.example"
    edited = {**shown, "command": command.replace("a.example", "b.example")}
    assert restore(edited, arguments) == {
        **arguments,
        "command": f"curl -u {KEY}:{KEY}-longer b.example",
    }


def test_a_secret_is_masked_in_its_own_place_only() -> None:
    target = {"url": "https://a.example/x", "headers": {"X-Token": "a.example/x"}}
    assert ShownArguments(target).masked == {
        "url": "https://a.example/x",
        "headers": {"X-Token": "*** (secret 1, 11 characters)"},
    }


def test_what_a_person_leaves_masked_is_put_back() -> None:
    assert restore(SHOWN, ARGS) == ARGS
    edited = {**SHOWN, "url": "https://b.example", "headers": [{"name": "y", "token": TOKEN}], "more": True}
    assert restore(edited, ARGS) == {
        **ARGS,
        "url": "https://b.example",
        "headers": [{"name": "y", "token": "tok-1234"}],
        "more": True,
    }
    assert restore({"password": "another"}, ARGS) == {"password": "another"}
    assert restore({"pin": "*** (secret 1, 4 characters)"}, {"pin": 1234}) == {"pin": 1234}


@pytest.mark.parametrize("accounts", [[BOB, ANN], [BOB], [ANN, ANN], [{**BOB, "user": "cid"}, ANN]])
def test_a_secret_moves_with_its_object(accounts: list[dict[str, str]]) -> None:
    shown = {"ANN-PASS": "*** (secret 1, 8 characters)", "BOB-PASS": "*** (secret 2, 8 characters)"}
    edited = {"accounts": [{**each, "password": shown[each["password"]]} for each in accounts]}
    assert restore(edited, {"accounts": [ANN, BOB]}) == {"accounts": accounts}


FIRST = "*** (secret 1, 8 characters)"


@pytest.mark.parametrize(
    ("edited", "place"),
    [
        ({"accounts": [{"url": "https://eve.example", "password": FIRST}]}, "accounts[].password"),
        ({"accounts": [{"user": FIRST, "password": "x"}]}, "accounts[].user"),
        ({"accounts": [], "password": FIRST}, "password"),
        ({"accounts": [{FIRST: "ann", "password": "x"}]}, "accounts[]"),
        ({"accounts": [{"user": "ann", "password": "***"}]}, "accounts[].password"),
        ({"accounts": [{"user": "ann", "password": "*** (8 characters)"}]}, "accounts[].password"),
        ({"accounts": [{"user": "ann", "password": FIRST[:-3]}]}, "accounts[].password"),
        ({"accounts": [{"user": "ann", "password": FIRST.replace("1", "7")}]}, "accounts[].password"),
        ({"accounts": [FIRST]}, "accounts[]"),
    ],
)
def test_a_masked_value_that_cannot_be_restored_is_refused(edited: dict[str, Any], place: str) -> None:
    arguments = {"accounts": [ANN, BOB]}
    with pytest.raises(ValueError, match="Type the value") as refused:
        restore(edited, arguments)
    assert f"`{place}`" in str(refused.value)
    assert find_edit_problem(edited, show_arguments(arguments)) == str(refused.value)


def test_a_call_cannot_write_what_looks_like_a_label_and_stars_are_a_text() -> None:
    arguments = {"note": f"**bold** *** {FIRST}", "password": "hunter22", "token": "***"}
    shown = show_arguments(arguments)
    assert shown == {
        "note": f"**bold** *** {FIRST}",
        "password": "*** (secret 2, 8 characters)",
        "token": "*** (secret 3, 3 characters)",
    }
    assert restore(shown, arguments) == arguments
    edited = {**shown, "note": "*** stars ***"}
    assert restore(edited, arguments) == {**arguments, "note": "*** stars ***"}
