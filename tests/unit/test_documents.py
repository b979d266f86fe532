"""Files of others: whatever they are, a command says so in a line, and takes little for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from linerate.base.safe_load import DEPTH_MAX, DocumentError, json_of, read_json, read_yaml, yaml_of

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
)
#: Limit of the memory in use, not of a command's address space, as libraries reserve some.
MEMORY_BYTES = 200 << 20
TIMEOUT_SECONDS = 60


def test_what_people_write_is_read():
    assert yaml_of("a: 1\nb: [1.5, x, '0x10', 2026-11-23]\nc: &c {d: 1}\ne: *c\n")["e"] == {"d": 1}
    assert yaml_of("") is None
    assert yaml_of("m: 18446744073709551615\n") == {"m": (1 << 64) - 1}
    assert yaml_of(f"long: '{'1' * 5000}'") == {"long": "1" * 5000}
    assert json_of('{"a": [1, 1.5, "x", null]}') == {"a": [1, 1.5, "x", None]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "entries or fewer"),
        ("&a [*a, *a]", "no alias within"),
        ("[" * (DEPTH_MAX + 1), "levels or fewer"),
        ("[" * 100_000, "levels or fewer"),
        ("- " * 100_000, "levels or fewer"),
        ("a: " + "9" * 5000, "digits or fewer"),
        ("a: -" + "9" * 5000, "digits or fewer"),
        ("a: 0x" + "f" * 5000, "digits or fewer"),
        ("a: 0b" + "1" * 5000, "digits or fewer"),
        ("a: " + "1:" * 5000 + "1", "digits or fewer"),
        ("a: 1_" + "1" * 5000, "digits or fewer"),
        ("a: 2026-99-99", "expected YAML"),
        ("? [a]\n: 1", "expected YAML"),
        ("!!python/object/apply:os.system [id]", "expected YAML"),
        ("a: [", "line 2: expected YAML"),
        ("\x1b", "expected YAML"),
        ("a: &x 1\nb: *y\n", "expected YAML"),
    ],
    ids=range(17),
)
def test_what_is_refused(text, message):
    with pytest.raises(DocumentError, match=message) as caught:
        yaml_of(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "-" + "9" * 41, "NaN", "Infinity", "{", ""],
    ids=range(8),
)
def test_what_is_no_json_here(text):
    with pytest.raises(DocumentError, match="expected"):
        json_of(text)


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "long").write_bytes(b"a" * 11)
    for read in (read_yaml, read_json):
        for path in (
            tmp_path / "pipe",
            tmp_path,
            Path("/dev/zero"),
            Path("/dev/null"),
            tmp_path / "long",
        ):
            with pytest.raises(OSError, match=r"regular|more than|directory"):
                read(path, 10)
    (tmp_path / "latin").write_bytes(b"a: \xe9")
    with pytest.raises(DocumentError, match="UTF-8"):
        read_yaml(tmp_path / "latin")


#: Every option and word of a command that names a file to read.
TAKERS = [
    ["bench", "FILE"],
    ["bench", "--traffic", "FILE"],
    ["sweep", "FILE"],
    ["search", "FILE"],
    ["latency", "FILE"],
    ["soak", "FILE", "--load", "10%"],
    ["soak", "--load", "10%", "--of", "FILE"],
    ["matrix", "FILE", "--list"],
    ["report", "FILE"],
    ["compare", "FILE", "FILE"],
    ["explain", "FILE"],
    ["export", "--csv", "tables", "FILE"],
    ["audit", "FILE"],
    ["show", "ledger", "FILE"],
    ["traffic", "show", "FILE"],
    ["traffic", "frames", "FILE", "out.pcap"],
    ["nic", "probe", "FILE"],
    ["exporter", "--listen", "127.0.0.1:0", "--token-file", "FILE"],
    ["doctor", "--root", "FILE"],
    ["runs", "--runs", "FILE"],
]
KINDS = ["bomb.yaml", "deep.yaml", "digits.yaml", "digits.json", "zero.pcap", "zero.yaml", "pipe.pcap",
         "pipe.yaml", "pipe.json", "deep.json", "zero.py"]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "bomb.yaml").write_text(BOMB)
    (folder / "deep.yaml").write_text("[" * 1_000_000)
    (folder / "deep.json").write_text('{"schema_version":' * 1_000_000)
    (folder / "digits.yaml").write_text("a: " + "9" * 5000)
    (folder / "digits.json").write_text('{"schema_version": ' + "9" * 5000 + "}")
    for kind in ("pcap", "yaml", "py"):
        (folder / f"zero.{kind}").symlink_to("/dev/zero")
    for kind in ("pcap", "yaml", "json"):
        os.mkfifo(folder / f"pipe.{kind}")
    return folder


#: A process's peak counts what its parent had when it was forked: this one has little.
MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code if code >= 0 else 255)
"""


def run_measured(command, folder):
    """Its output, its exit code, and the most memory that it had."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    message, _, peak = done.stdout.decode().rpartition("peak ")
    return message, done.returncode, int(peak) * 1024


#: One reader serves them all: each command with a few, and a few commands with each.
OFTEN = ("bomb.yaml", "zero.yaml", "pipe.json")
THOROUGH = (["bench", "--traffic", "FILE"], ["explain", "FILE"])


@pytest.mark.parametrize(
    ("words", "kind"),
    [(words, kind) for words in TAKERS for kind in KINDS if kind in OFTEN or words in THOROUGH],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_every_command_says_it_in_a_line(files, words, kind):
    if words[0] in ("exporter",) and not kind.startswith(("pipe", "zero")):
        kind = "pipe.json"
    command = [
        sys.executable,
        "-m",
        "linerate",
        *(kind if word == "FILE" else word for word in words),
    ]
    text, code, resident_bytes = run_measured(command, files)
    assert "Traceback" not in text, text
    # They go on with the other files, and say at the end what they have.
    goes_on = words[0] in ("explain", "export")
    assert code > 0 or (goes_on and code == 0), text
    assert len(text.splitlines()) <= (12 if goes_on else 2), text
    assert resident_bytes < MEMORY_BYTES
