"""contrib/ci: a comment however a measurement ends, and steps of both forges that are right."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
import yaml
from tests.unit.conftest import FAKE_ENGINE

CI = Path(__file__).parents[2] / "contrib" / "ci"
ACTION = yaml.safe_load((CI / "github/action.yml").read_text())
TEMPLATE = yaml.safe_load((CI / "gitlab/linerate.yml").read_text())
SCRIPTS = [CI / "measure", CI / "github/post", CI / "gitlab/post"]
#: Keys of a composite action and of its steps.
ACTION_KEYS = {"name", "description", "inputs", "outputs", "runs"}
STEP_KEYS = {"id", "name", "if", "shell", "env", "run"}


def steps():
    """Shell text of each step, by name."""
    found = {step["name"]: step["run"] for step in ACTION["runs"]["steps"]}
    return found | {"gitlab": "\n".join(TEMPLATE[".linerate"]["script"])}


def test_the_action_has_what_its_schema_asks_for():
    assert set(ACTION) == ACTION_KEYS
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert set(step) <= STEP_KEYS
        assert step["shell"] == "bash"
    for one in ACTION["inputs"].values():
        assert one["description"]
        assert isinstance(one.get("default", ""), str)
        assert ("default" in one) != one.get("required", False)


def test_each_input_is_used_and_each_that_is_used_exists():
    text = (CI / "github/action.yml").read_text()
    assert set(re.findall(r"\binputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    ids = {step["id"] for step in ACTION["runs"]["steps"] if "id" in step}
    assert set(re.findall(r"\bsteps\.([\w-]+)\.", text)) == ids
    written = re.findall(r'echo "(\w+)=', steps()["Measure both builds in turn"])
    assert set(re.findall(r"\.outputs\.(\w+)", text)) == set(written)


@pytest.mark.parametrize("name", list(steps()))
def test_a_step_is_shell_into_which_nothing_is_pasted(name):
    """An input is a variable: what a title has in it is not run."""
    assert "${{" not in steps()[name]
    subprocess.run(["bash", "-n"], input=steps()[name], text=True, check=True)


def test_variables_of_both_forges_are_those_that_are_read():
    known = set(re.findall(r"\bLINERATE_\w+", "".join(map(Path.read_text, SCRIPTS))))
    env = [name for step in ACTION["runs"]["steps"] for name in step["env"]]
    outside = {"GH_TOKEN", "LINERATE_COMMENT", "LINERATE_CODE", "LINERATE_CI"}
    assert {*env, *TEMPLATE[".linerate"]["variables"]} - outside <= known


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(CI)))
def test_shellcheck_finds_nothing(script):
    done = subprocess.run(["shellcheck", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def environment(**changes):
    """Both engines the fake one, one pair of two short trials."""
    given = {
        "LINERATE_BASE_ENGINE": str(FAKE_ENGINE),
        "LINERATE_NEW_ENGINE": str(FAKE_ENGINE),
        "LINERATE_COMMAND": f"{sys.executable} -m linerate",
        "LINERATE_REPEATS": "1",
        "LINERATE_TRIALS": "2",
        "FAKE_DUT_PPS": "5e6",
    }
    return os.environ | given | changes


@pytest.fixture
def measure(fake_environment, tmp_path):
    """Run it; returns exit code, comment and messages."""

    def run(**changes):
        done = subprocess.run(
            [CI / "measure"],
            env=environment(**changes),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, (tmp_path / "linerate-ci/comment.md").read_text(), done.stderr

    return run


def test_few_pairs_prove_nothing(measure, tmp_path):
    summary = tmp_path / "summary.md"
    code, comment, messages = measure(GITHUB_STEP_SUMMARY=str(summary), LINERATE_TITLE="a <title>")
    # By chance one trial in two is dearer by more than 3 % on a busy machine.
    verdicts = {
        0: "No growth beyond `cycles>3%` was found, but with so few pairs its noise is not known",
        4: "Too few repeats to tell of `cycles>3%`",
    }
    assert code in verdicts, messages
    marker, heading, *_ = comment.splitlines()
    assert marker == "<!-- linerate-ci a title -->"
    assert heading == f"### a <title>: {verdicts[code]}"
    assert "U2 in turn, 1 pairs of runs, 2 trials of 150ms each; a pair takes" in comment
    assert "- gates: 0 of " in comment
    assert "#### new against base" in comment
    assert not summary.exists()


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        ({"LINERATE_NEW_ENGINE": "gone"}, 2, "LINERATE_NEW_ENGINE: gone is no program"),
        ({"LINERATE_BASE_ENGINE": ""}, 2, "LINERATE_BASE_ENGINE: expected the path"),
        ({"LINERATE_REPEATS": "many"}, 2, "LINERATE_REPEATS: expected a whole number"),
        ({"LINERATE_LOADTESTS": "U99"}, 2, "no loadtest 'U99'"),
        ({"LINERATE_SCENARIOS": "none,router"}, 2, "no scenario 'none'"),
        ({"LINERATE_PRECISION": "x"}, 2, "LINERATE_PRECISION: expected per cent"),
        ({"LINERATE_NEW_ENGINE": shutil.which("false") or ""}, 1, "the engine did not start"),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, dict) else None,
)
def test_a_comment_says_why_there_is_no_comparison(measure, changes, code, reason):
    ended, comment, messages = measure(**changes)
    assert ended == code, messages
    assert "No verdict on `cycles>" in comment
    (line,) = [line for line in comment.splitlines() if reason in line]
    assert line.startswith("    ")


def test_invalid_trials_are_counted(measure):
    code, comment, _ = measure(FAKE_UNDRAINED="1")
    assert code == 1
    assert "    U2: linerate: " in comment
    assert "have no test in common with a result" in comment
    assert "2 of the runs ended with trials that are not valid" in comment


def test_a_signal_leaves_a_comment_and_no_lab(fake_environment, tmp_path):
    environ = environment(LINERATE_DURATION="60s", FAKE_HURRY="1")
    runs = tmp_path / "linerate-ci/runs"
    with subprocess.Popen([CI / "measure"], env=environ, cwd=tmp_path) as process:
        deadline = time.monotonic() + 120
        while not list(runs.glob("*/base/*/live.jsonl")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 128 + signal.SIGTERM
    comment = (tmp_path / "linerate-ci/comment.md").read_text()
    assert "it was ended before the comparison" in comment
    for file in runs.glob("*/base/*/run.json"):
        assert json.loads(file.read_text())["status"] != "running"


def test_a_comment_is_not_longer_than_a_forge_takes(measure, tmp_path):
    program = tmp_path / "linerate"
    program.write_text(
        f'#!/bin/sh\n{sys.executable} -m linerate "$@"; code=$?\n'
        '[ "$1" != compare ] || head -c 70000 /dev/zero | tr "\\0" x; exit $code\n'
    )
    program.chmod(0o755)
    _, comment, _ = measure(LINERATE_COMMAND=str(program))
    assert len(comment) < 2000
    assert "too long for a comment" in comment


GH = """#!{python}
import json, os, sys
with open(os.environ["CALLS"], "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
if "--paginate" in sys.argv:
    assert os.environ["LINERATE_MARKER"] == "<!-- linerate-ci x -->"
    print(os.environ["EARLIER"], end="")
"""


@pytest.mark.parametrize(
    ("earlier", "method", "address"),
    [
        ("", "POST", "repos/us/forwarder/issues/7/comments"),
        ("41\n57\n", "PATCH", "repos/us/forwarder/issues/comments/41"),
    ],
)
def test_a_pull_request_has_one_comment(tmp_path, earlier, method, address):
    gh, calls, comment = (tmp_path / name for name in ("gh", "calls", "comment.md"))
    gh.write_text(GH.format(python=sys.executable))
    gh.chmod(0o755)
    comment.write_text("<!-- linerate-ci x -->\ntext\n")
    environ = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "CALLS": str(calls),
        "EARLIER": earlier,
        "GITHUB_REPOSITORY": "us/forwarder",
        "LINERATE_PULL_REQUEST": "7",
    }
    subprocess.run([CI / "github/post", comment], env=environ, check=True)
    posted = json.loads(calls.read_text().splitlines()[-1])
    assert posted == ["api", "--silent", "--method", method, address,
                      "--field", f"body=@{comment}"]  # fmt: skip


class Forge(BaseHTTPRequestHandler):
    """Notes of a merge request."""

    notes: list[dict[str, object]] = []
    seen: list[tuple[str, str, str]] = []
    token = ""

    def answer(self, body=""):
        assert self.headers["PRIVATE-TOKEN"] == Forge.token
        Forge.seen.append((self.command, self.path, body))
        reply = {"id": 5} if self.path.endswith("/user") else Forge.notes
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

    def do_GET(self):
        self.answer()

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.answer(parse_qs(text)["body"][0])

    do_PUT = do_POST  # noqa: N815

    def log_message(self, *_words):
        """Print nothing."""


@pytest.fixture
def forge():
    with HTTPServer(("127.0.0.1", 0), Forge) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        Forge.seen, Forge.notes, Forge.token = [], [], "glpat-1"
        yield f"http://127.0.0.1:{server.server_port}/api/v4"
        server.shutdown()
        thread.join()


def note(number, author, body):
    return {"id": number, "author": {"id": author}, "body": body}


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_a_merge_request_has_one_note(forge, tmp_path):
    comment = tmp_path / "comment.md"
    comment.write_text("<!-- linerate-ci x -->\n100 % & more\n")

    def post(**changes):
        environ = {
            "PATH": os.environ["PATH"],
            "CI_API_V4_URL": forge,
            "CI_MERGE_REQUEST_PROJECT_ID": "3",
            "CI_MERGE_REQUEST_IID": "7",
            "LINERATE_NOTE_TOKEN": "glpat-1",
        }
        command = [CI / "gitlab/post", comment]
        done = subprocess.run(
            command, env=environ | changes, capture_output=True, text=True, check=True
        )
        assert "glpat" not in done.stdout + done.stderr
        return Forge.seen[-1] if Forge.seen else None

    assert post(LINERATE_NOTE_TOKEN="") is None
    notes = "/api/v4/projects/3/merge_requests/7/notes"
    assert post() == ("POST", notes, comment.read_text())
    Forge.notes = [note(1, 9, "<!-- linerate-ci x -->"), note(2, 5, "<!-- linerate-ci x -->\nold")]
    assert post() == ("PUT", f"{notes}/2", comment.read_text())
