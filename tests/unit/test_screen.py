"""Terminal output: others' text, but no control sequences."""

import ast
import io
import json
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text
from tests.command import run_command
from tests.many_runs import make_many

import linerate
from linerate.ui.console import Console
from linerate.ui.screen import clean, one_line

ROOT = Path(linerate.__file__).parent
#: Colours, a title, the cursor, a rubout, C1's CSI, an override of direction, an isolate, half a
#: character.
HOSTILE = "a\x1b[31mred\x1b]0;title\x07\x08\r\x9b2J\u202egnp\u2066.exe\u200f\x7f\udce9[bold]z[/]"
OBEYED = set("\x1b\x07\x08\r\x9b\u202e\u2066\u200f\x7f\udce9")


def test_nothing_that_a_terminal_obeys_is_left():
    shown = clean(HOSTILE)
    assert not OBEYED & set(shown)
    assert len(shown) == len(HOSTILE)
    assert shown.endswith("[bold]z[/]")
    assert clean("é 10 %\u00a0→\n\tx") == "é 10 %\u00a0→\n\tx"
    assert one_line("first\r\nsecond\x0bthird") == "first second third"


def test_tables_and_markup():
    out = io.StringIO()
    console = Console(file=out, width=200)
    table = Table("head")
    # In a table it is cut: a control character has no width there.
    table.add_row(HOSTILE)
    console.print(table)
    console.print(HOSTILE)
    console.print(Text(HOSTILE, "bold"), style="red")
    assert not OBEYED & set(out.getvalue())
    assert out.getvalue().count("[bold]z[/]") == 2


#: Modules that print for all others.
PLACES = {"ui/screen.py", "ui/console.py"}
#: Runs in a process of its own, whose document goes through its standard output.
OWN_PROCESS = {"traffic/trex/shim/runner.py"}
PRINTING = {"print", "pprint", "input"}
WRITING = {
    "sys": ("stdout", "stderr", "__stdout__", "__stderr__"),
    "typer": ("echo", "secho", "confirm", "prompt", "launch"),
    "click": ("echo", "secho", "confirm", "prompt", "launch"),
}


def printed_in(path):
    """Lines of a file that write to the terminal past `screen`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in PRINTING:
                yield node.lineno
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in WRITING.get(node.value.id, ())
        ):
            yield node.lineno
    yield from consoles_made(path)


def consoles_made(path):
    """Lines that make a console of rich's own: to be given one is no making."""
    tree = ast.parse(path.read_text())
    own = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "rich.console"
        and any(one.name == "Console" for one in node.names)
        for node in ast.walk(tree)
    )
    for node in ast.walk(tree):
        if not own or not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "Console":
            yield node.lineno


def test_only_one_place_prints():
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in ROOT.rglob("*.py")
        if str(path.relative_to(ROOT)) not in PLACES
        and str(path.relative_to(ROOT)) not in OWN_PROCESS
        for line in printed_in(path)
    ]
    assert found == []


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with hostile runs and files; everything that has a name has a hostile one."""
    folder = tmp_path_factory.mktemp("hostile")
    text = HOSTILE.replace("\udce9", "").replace("/", "")
    make_many(folder / "runs", 1)
    run = next((folder / "runs").glob("2*"))
    document = json.loads((run / "run.json").read_text())
    poison(document, text)
    (run / "run.json").write_text(json.dumps(document))
    run.rename(run.parent / text)
    (folder / "testbed.yaml").write_text(json.dumps({text: {text: text}, "dut": {"name": text}}))
    (folder / "traffic.yaml").write_text(json.dumps({"streams": [{"name": text, text: text}]}))
    raiser = f"def register():\n    raise ValueError({text!r})\n"
    (folder / "profile.py").write_text(raiser)
    (folder / "table.csv").write_text(f'test,"{text}"\n1,"{text}"\n')
    (folder / "output.txt").write_text(f"{text}\n")
    return folder


def poison(document, text):
    """Put it wherever a run says something in free words."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key in ("text", "name", "problem", "cpu_model", "dpdk", "sentence", "suite"):
                document[key] = text if isinstance(value, str) else value
            poison(value, text)
    elif isinstance(document, list):
        for one in document:
            poison(one, text)


NAME = HOSTILE.replace("/", "")
COMMANDS = [
    ["runs", "--runs", "runs"],
    ["runs", "--runs", "runs", "--filter", f"dut={NAME}"],
    ["runs", "--runs", NAME],
    ["report", "RUN", "--format", "markdown"],
    ["report", "RUN", "--format", "csv"],
    ["report", NAME],
    ["compare", "RUN", "RUN"],
    ["compare", NAME, NAME],
    ["explain", "RUN"],
    ["explain", "output.txt"],
    ["explain", NAME],
    ["show", "ledger", "RUN"],
    ["show", "ledger", "RUN", NAME],
    ["show", "runtime", "--engine", NAME],
    ["top", "--once", "--engine", NAME],
    ["export", "--csv", "tables", "RUN"],
    ["audit", "table.csv"],
    ["audit", NAME],
    ["bench", "testbed.yaml"],
    ["bench", NAME],
    ["bench", "--traffic", "profile.py"],
    ["bench", "--traffic", "traffic.yaml"],
    ["bench", "--only", NAME],
    ["bench", "--dut", NAME],
    ["bench", "--card", NAME],
    ["sweep", "--config", NAME],
    ["search", "--loadtest", NAME],
    ["soak", "--load", NAME],
    ["matrix", "--list", "--only", NAME],
    ["traffic", "show", "profile.py"],
    ["traffic", "show", "traffic.yaml"],
    ["traffic", "show", NAME],
    ["traffic", "frames", "imix", f"none/{NAME}"],
    ["line", NAME, "64"],
    ["doctor", "--root", NAME],
    ["doctor", "--cpus", NAME],
    ["nic", "probe", NAME],
    ["nic", "probe", "card", "--rule", NAME],
    ["exporter", "--listen", NAME],
    ["serve", "--listen", NAME],
    [NAME],
    [f"--{NAME}"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words)[:20].encode("unicode_escape").decode())  # fmt: skip
def test_no_command_passes_on_what_a_terminal_obeys(place, words):
    run = str(next((place / "runs").glob("a*")).relative_to(place))
    arguments = tuple(run if word == "RUN" else word for word in words)
    message = run_command(arguments, place, {"LINERATE_RUNTIME": str(place / "engines")})
    text = message.stdout + message.stderr
    assert not OBEYED & set(text), text
    assert "Traceback" not in text, text
    assert text
