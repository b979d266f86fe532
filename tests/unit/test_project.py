"""One version, documents that exist, manual pages that have every command and option."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from linerate.cli.app import COMMANDS, app

ROOT = Path(__file__).parents[2]
HEADINGS = re.compile(r"^## \[(.+?)\]", re.MULTILINE)


def version():
    """Read the version as the packages do."""
    shown = subprocess.run([ROOT / "packaging/version"], capture_output=True, text=True, check=True)
    return shown.stdout.strip()


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", version())
    assert "version" not in project
    assert project["dynamic"] == ["version"]


def test_the_changelog_begins_with_the_version():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    newest = HEADINGS.findall(changelog)[0]
    assert newest == version() or (
        newest == "Unreleased" and f"\nVersion {version()}.\n" in changelog
    )


def test_debians_changelog_is_made_of_it():
    made = subprocess.run(
        [sys.executable, ROOT / "packaging/debian_changelog.py", version()],
        input=(ROOT / "CHANGELOG.md").read_text(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    entries = re.findall(r"^linerate \((.+?)\) unstable; urgency=medium$", made, re.MULTILINE)
    assert entries[0] == version()
    assert entries[-1] == "0.1.0"
    assert made.count("\n -- linerate maintainers <") == len(entries)


def pages_of_sources():
    """Pages of docs/ that sources and scripts name, each with where."""
    folders = ("src", "engine", "tests", "bench", "fuzz", "build-aux", "packaging", "contrib")
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if (
                path.suffix in {".py", ".c", ".h", ""}
                and path.is_file()
                and "corpus" not in path.parts
            ):
                text = path.read_text(encoding="utf-8", errors="replace")
                for page in re.findall(r"\bdocs/[\w/-]+\.md\b", text):
                    yield page, path


def test_pages_that_sources_name_exist():
    missing = {
        f"{page} in {path}" for page, path in pages_of_sources() if not (ROOT / page).exists()
    }
    assert not missing


def test_the_index_of_the_documents_has_every_page():
    index = (ROOT / "docs/index.md").read_text() + (ROOT / "docs/nics.md").read_text()
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages - {"index.md"} if f"({page})" not in index} == set()


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    """Text of the manual pages, by name."""
    folder = tmp_path_factory.mktemp("manual")
    engine = folder / "engine"
    engine.write_text(
        "#!/bin/sh\nprintf 'usage: linerate-engine CONFIG\\n\\nRuns.\\n  --check\\n'\n"
    )
    engine.chmod(0o755)
    subprocess.run(
        [sys.executable, ROOT / "packaging/man_pages.py", folder, engine], check=True, cwd=ROOT
    )
    return {page.stem: page.read_text().replace(r"\-", "-") for page in folder.glob("*.1")}


def test_every_command_has_a_manual_page(manual):
    names = {f"linerate-{command.name}" for command in COMMANDS}
    assert set(manual) == {"linerate", "linerate-engine", *names}
    assert all(f"{name}(1)" in manual["linerate"] for name in names)


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_manual_pages_have_every_option(manual, name):
    top: Any = typer.main.get_command(app)
    command = top.resolve_command(typer.Context(top, info_name="linerate"), [name])[1]
    names = [one for parameter in command.params for one in parameter.opts if one.startswith("-")]
    names += [f"linerate {name} {nested}" for nested in getattr(command, "commands", ())]
    page = manual[f"linerate-{name}"]
    assert names
    assert all(one in page for one in names)
    assert "[bold]" not in page
