"""`agent.attachment`: files and bytes are read, and parts without content are refused."""

import base64
import logging
from pathlib import Path
from typing import Any

import pytest

from dovetail import Agent
from dovetail.errors import ConfigError
from dovetail.testing import ScriptedRequester

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
BEGINNINGS = {
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x01\x02\x03\x04WEBPVP8",
    "audio/wav": b"RIFF\x01\x0a\x03\x04WAVEfmt",
    "application/pdf": b"%PDF-1.7",
}


def send(attachment: Any, mappings: Any = None) -> list[Any]:
    """Return the parts that the model gets after the text."""
    model = ScriptedRequester(["Oak."])
    Agent(model=model).input("Which wood?").attachment(attachment, mappings).start()
    return model.requests[0].messages[0]["content"][1:]


def encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


def test_a_path_is_sent_as_the_content_of_its_file(tmp_path: Path) -> None:
    (path := tmp_path / "oak.png").write_bytes(PNG)
    picture = {"type": "image", "data": encode(PNG), "media_type": "image/png", "filename": "oak.png"}
    for written in (path, [path], {"type": "image", "path": str(path)}, {"type": "image", "data": path}):
        (part,) = send(written)
        assert {name: value for name, value in part.items() if name in picture} == picture


def test_bytes_are_sent_with_the_media_type_of_their_beginning() -> None:
    for media_type, beginning in BEGINNINGS.items():
        (part,) = send(beginning + bytes(9))
        family = media_type.partition("/")[0]
        assert (part["media_type"], part["data"]) == (media_type, encode(beginning + bytes(9)))
        assert part["type"] == ("file" if family == "application" else family)


def test_a_file_of_unknown_type_is_known_by_its_name_or_as_text(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("oak,3")
    (tmp_path / "Makefile").write_text("all: doors")
    parts = send([tmp_path / "sales.csv", tmp_path / "Makefile", "a note"])
    assert [part.get("media_type") for part in parts] == ["text/csv", "text/plain", None]
    assert parts[2] == {"type": "text", "text": "a note"}


def test_data_without_media_type_gets_the_one_of_its_beginning() -> None:
    for data in (PNG, encode(PNG)):
        (part,) = send({"type": "image", "data": data})
        assert (part["data"], part["media_type"]) == (data, "image/png")


@pytest.mark.parametrize(
    ("attachment", "reason"),
    [
        (Path("no.png"), "Cannot read the attachment 'no.png': No such file"),
        (Path(), "Cannot read the attachment '.': Is a directory"),
        (b"", "The attachment is empty"),
        (b"\0\1\2", "Cannot tell the media type"),
        ({"type": "image"}, "has no `data`, a `url` or a `path`"),
        ({"type": "file", "media_type": "application/pdf"}, "has no `data`"),
        ({"type": "image_url"}, "has no `image_url`"),
        (
            {"type": "image", "data": "oak.png", "media_type": "image/png"},
            r"write attachment\(Path\('oak.png'\)",
        ),
        ([object()], "Cannot attach <object object"),
    ],
)
def test_what_holds_nothing_to_send_is_refused(attachment: Any, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        Agent().input("Which wood?").attachment(attachment)


def test_a_text_that_names_a_file_is_sent_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert send("oak.png") == [{"type": "text", "text": "oak.png"}]
    assert "Write attachment(Path('oak.png'))." in caplog.text
    caplog.clear()
    send("The picture is oak.png")
    assert not caplog.text


def test_addresses_placeholders_and_parts_of_other_kinds_stay_as_they_are() -> None:
    parts = [
        {"type": "image", "url": "https://example.org/oak.png"},
        {"type": "image_url", "image_url": {"url": "https://example.org/oak.png"}},
        {"type": "file", "file": {"file_id": "f1"}},
        {"type": "image", "data": "${picture}", "media_type": "image/png"},
        {"type": "scan", "scan": 3},
    ]
    sent = send(parts, {"picture": encode(PNG)})
    assert [part["type"] for part in sent] == [part["type"] for part in parts]
    assert sent[3]["data"] == encode(PNG)


def test_a_file_in_dovetails_own_folder_is_not_attached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".dovetail").mkdir()
    (tmp_path / ".dovetail" / "keys.json").write_text("{}")
    (tmp_path / "notes.txt").symlink_to(".dovetail/keys.json")
    for attached in (Path("notes.txt"), {"type": "file", "path": ".dovetail/keys.json"}):
        with pytest.raises(ConfigError, match="Dovetail's own folder"):
            Agent().attachment(attached).input("What is it?")
