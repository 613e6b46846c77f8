"""Builds the site in both languages with Zensical, and serves it."""

import re
import shutil
import subprocess
import sys
import threading
import tomllib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from watchfiles import watch

from documentation.for_models import write_for_models
from documentation.languages import ENGLISH, LANGUAGES, Language
from documentation.stage import DOCS, ROOT, Stage

THEME = Path(__file__).parent / "theme"
NEW_SITE = "site.new"
_COLOR = re.compile(r"\x1b\[[\d;]*m")


class BuildError(Exception):
    """A page has a broken link, or the configuration is wrong; the text is the builder's report."""


def build_site(folder: Path = ROOT / "build", root: Path = ROOT) -> Path:
    """Build all pages into `site` below the folder and return it.

    Raises:
        BuildError: a link or an anchor is broken; the site stays as it was.
    """
    site, new = folder / "site", folder / NEW_SITE
    shutil.rmtree(new, ignore_errors=True)
    for language in LANGUAGES:
        Stage(language, folder / "docs" / language.code, root).fill()
        config = folder / f"site.{language.code}.yml"
        config.write_text(yaml.safe_dump(configure(language), allow_unicode=True), encoding="utf-8")
        run_zensical(config)
    write_for_models(folder / "docs" / ENGLISH.code, new)
    shutil.rmtree(site, ignore_errors=True)
    return new.rename(site)


def configure(language: Language) -> dict[str, Any]:
    """Return zensical.toml for one language."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    config |= {
        "site_description": language.description,
        "docs_dir": f"docs/{language.code}",
        "site_dir": f"{NEW_SITE}/{language.folder}",
    }
    config["theme"] = language.translate(config["theme"]) | {
        "language": language.code,
        "custom_dir": str(THEME),
    }
    # The header shows links to other languages if this is true; a list would make pages look for their
    # sitemaps, which a page that was opened from a file cannot read.
    config["extra"]["alternate"] = True
    config["extra"]["languages"] = [
        {"lang": other.code, "name": other.name, "link": "../" * language.folder.count("/") + other.folder}
        for other in LANGUAGES
        if other != language
    ]
    return config


def run_zensical(config: Path) -> None:
    """Build one language; Zensical reports a page's line for each broken link."""
    result = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file", str(config)],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        report = _COLOR.sub("", result.stdout + result.stderr).partition("Traceback")[0]
        raise BuildError("\n".join(line for line in report.splitlines() if not line.startswith("INFO")))


def serve_site(port: int) -> None:
    """Build the site, serve it on this machine, and build it again whenever a page changes."""
    site = build_site()
    handler = partial(SimpleHTTPRequestHandler, directory=site)
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"Serving the documentation at http://127.0.0.1:{port} (Ctrl-C stops it) …", flush=True)
    for _ in watch(DOCS, THEME, raise_interrupt=False):
        try:
            build_site()
        except BuildError as error:
            print(error, flush=True)
        else:
            print("Built again; reload the page.", flush=True)
