"""Commands are loaded when they are called: what starts, lists and completes loads nothing else."""

import json
import os
import subprocess
import sys

import pytest
import typer
from tests.command import run_command
from typer.testing import CliRunner

from linerate.cli.app import COMMANDS, app

#: Modules that take tenths of a second to import on a busy machine.
SLOW = {
    "MLRsearch",
    "cryptography",
    "distributed",
    "duckdb",
    "fastapi",
    "hdrh",
    "prometheus_client",
    "pydantic",
    "pyroute2",
    "scipy",
    "textual",
    "uvicorn",
    "yaml",
}


def slow_modules(*arguments, allowed=(), **environment):
    """Those of them that a command has loaded when it ends."""
    program = (
        "import atexit, json, sys\n"
        f"slow = set({sorted(SLOW)})\n"
        "atexit.register(lambda: print(json.dumps(sorted(slow & set(sys.modules))), file=sys.stderr))\n"
        "import linerate.cli.app\n"
        "linerate.cli.app.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=True,
    )
    return set(json.loads(done.stderr.splitlines()[-1])) - set(allowed), done.stdout


def test_importing_the_cli_loads_only_the_list():
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, linerate.cli.app; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ours = {name for name in loaded if name.startswith("linerate.")}
    assert ours == {
        "linerate.base",
        "linerate.base.errors",
        "linerate.cli",
        "linerate.cli.app",
        "linerate.cli.lazy_group",
        "linerate.ui",
        "linerate.ui.screen",
    }
    assert not SLOW & set(loaded)


# typer itself makes a model of a command that is called.
@pytest.mark.parametrize("arguments", [("--version",), ("clean", "--dry-run")])
def test_a_small_command_loads_little(arguments, tmp_path):
    loaded, message = slow_modules(*arguments, allowed={"pydantic"}, LINERATE_RUNTIME=str(tmp_path))
    assert message
    assert loaded == set()


@pytest.mark.parametrize("arguments", [("bench", "--help"), ("line", "10G", "64")])
def test_a_command_loads_no_library_that_it_may_not_need(arguments):
    loaded, message = slow_modules(*arguments, allowed={"pydantic", "yaml", "hdrh"})
    assert message
    assert loaded == set()


def test_names_of_commands_are_completed_from_the_list():
    loaded, message = slow_modules(
        _LINERATE_COMPLETE="complete_bash",
        COMP_WORDS="linerate s",
        COMP_CWORD="1",
        allowed={"pydantic"},
    )
    assert message.split() == [one.name for one in COMMANDS if one.name.startswith("s")]
    assert loaded == set()


@pytest.mark.parametrize("listed", COMMANDS, ids=lambda one: one.name)
def test_the_list_says_what_a_command_says_of_itself(listed):
    loaded = listed.loaded()
    assert loaded.name == listed.name
    assert loaded.help is not None
    assert loaded.help.split("\n")[0] == listed.text


def test_every_command_is_in_the_help():
    message = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    for listed in COMMANDS:
        assert f" {listed.name} " in message
        assert listed.text in message


def test_a_command_that_is_not_there_is_refused_with_what_is_like_it():
    done = CliRunner().invoke(app, ["benhc"], env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert "Did you mean 'bench'" in done.output


def test_a_group_keeps_its_commands():
    (show,) = (one.loaded() for one in COMMANDS if one.name == "show")
    assert isinstance(show, typer.core.TyperGroup)
    assert "runtime" in show.commands


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bench", "--duration", "5y"), "linerate bench: Invalid value for '--duration'"),
        (("bench", "--repeat", "0"), "linerate bench: Invalid value for '--repeat'"),
        (("benc",), "linerate: No such command 'benc'. Did you mean 'bench'"),
        (("show", "ledger"), "linerate show ledger: Missing argument 'RUN'."),
    ],
)
def test_a_mistake_is_one_line_and_says_where_help_is(arguments, message, tmp_path):
    done = run_command(arguments, tmp_path, {})
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(message)
    assert line.endswith("--help)")


@pytest.mark.parametrize("listed", COMMANDS, ids=lambda one: one.name)
def test_each_command_starts_in_a_fresh_process(listed):
    """Other tests run commands in this process, where all modules are loaded already."""
    done = subprocess.run(
        [sys.executable, "-m", "linerate", listed.name, "--help"],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"linerate {listed.name}" in done.stdout
    assert listed.text.split(":")[0] in " ".join(done.stdout.split())


#: Servers: they print where they listen, and run until they are stopped.
WITHOUT_JSON = {"serve", "exporter", "trex"} | {
    f"campaign {word}" for word in ("keys", "scheduler", "worker", "stop")
}


def commands_of(command, words=()):
    """Each command with its words, those of groups too."""
    if isinstance(command, typer.core.TyperGroup):
        for name, one in command.commands.items():
            yield from commands_of(one, (*words, name))
    else:
        yield " ".join(words), command


def test_every_command_that_prints_has_json():
    lacking = {
        words
        for listed in COMMANDS
        for words, command in commands_of(listed.loaded(), (listed.name,))
        if "--json" not in {option for one in command.params for option in one.opts}
    }
    assert lacking == WITHOUT_JSON


@pytest.mark.parametrize("command", ["dataset", "query"])
def test_a_question_loads_nothing_that_judges_or_reads_runs(command):
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, linerate.cli.commands.{command}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    beyond = ("linerate.results.store", "linerate.analysis", "linerate.experiments", "linerate.lab")
    assert not [name for name in loaded if name.startswith(beyond)]
