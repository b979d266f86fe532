"""`linerate trend` and `linerate report --campaign` over a dataset on disk."""

import json
import subprocess

import pytest
from tests.unit.trend_noise import commits, planted, rows
from typer.testing import CliRunner

from linerate.cli.app import app
from linerate.host.git_commits import GitError, Repository
from linerate.report.trend import sparks
from linerate.results.dataset.dataset import Dataset


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trend") / "dataset"
    found = rows(planted(commits(1, number=30), 23, "burn", 6.0), campaign="nightly", run="r")
    kept = [one.model_copy(update={"trial": f"{at}"}) for at, one in enumerate(found)]
    Dataset(folder).write("unit", kept)
    return folder


def run(*words, **environment):
    return CliRunner().invoke(app, [str(word) for word in words], env=environment)


def test_a_slowdown_is_printed_in_80_columns_with_its_node_and_fails_the_gate(dataset):
    done = run("trend", "--dataset", dataset, "--fail-on", "3%", COLUMNS="80")
    assert done.exit_code == 3
    assert "Slower by 6.0 % from c23 on (before: c22): burn" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_gate_above_the_slowdown_holds(dataset):
    assert run("trend", "--dataset", dataset, "--fail-on", "10%").exit_code == 0


def test_changes_before_since_are_not_reported(dataset):
    done = run("trend", "--dataset", dataset, "--since", "c25", "--fail-on", "3%")
    assert done.exit_code == 0
    assert "no change" in done.stdout
    later = run("trend", "--dataset", dataset, "--since", "2026-11-10", "--fail-on", "3%")
    assert later.exit_code == 3


def test_json_has_points_changes_and_nodes(dataset):
    done = run("trend", "--dataset", dataset, "--json")
    (series,) = json.loads(done.stdout)["result"]["series"]
    assert len(series["points"]) == 30
    (change,) = series["changes"]
    assert (change["before"], change["after"], change["stands"]) == ("c22", "c23", True)
    assert change["nodes"][0]["name"] == "burn"


def test_a_page_has_a_picture_of_the_series_and_of_its_nodes(dataset, tmp_path):
    page = tmp_path / "trend.html"
    assert run("trend", "--dataset", dataset, "-o", page).exit_code == 0
    text = page.read_text()
    assert 'id="trend-1"' in text
    assert 'id="trend-nodes-1"' in text


def test_too_few_trials_for_a_gate_end_with_4(tmp_path):
    found = rows(commits(1, number=2, trials=2), run="r")
    kept = [one.model_copy(update={"trial": f"{at}"}) for at, one in enumerate(found)]
    Dataset(tmp_path / "few").write("unit", kept)
    done = run("trend", "--dataset", tmp_path / "few", "--fail-on", "3%")
    assert done.exit_code == 4
    assert "too few commits or trials" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (("--fail-on", "much"), 2, "--fail-on"),
        (("--since", "c99"), 2, "--since"),
        (("--scenario", "none"), 1, "no trials of scenario none"),
        (("--repository", "/nowhere"), 1, "/nowhere"),
    ],
)
def test_mistakes_end_with_a_line(dataset, words, code, named):
    done = run("trend", "--dataset", dataset, *words)
    assert done.exit_code == code
    assert named in (done.stderr or str(done.exception))


def test_a_campaign_is_written_as_pages_with_its_trials(dataset, tmp_path):
    done = run("report", "--campaign", "nightly", "--dataset", dataset, "-o", tmp_path / "pages")
    assert done.exit_code == 0
    names = {one.name for one in (tmp_path / "pages").iterdir()}
    assert names == {"index.html", "ip4-route.html", "trials.csv", "trials.parquet"}


def test_an_unknown_campaign_names_those_that_there_are(dataset):
    done = run("report", "--campaign", "weekly", "--dataset", dataset)
    assert done.exit_code == 1
    assert "its campaigns: nightly" in str(done.exception)


def test_runs_and_a_campaign_are_not_reported_together(dataset):
    assert run("report", "runs/x", "--campaign", "nightly", "--dataset", dataset).exit_code == 2
    assert run("report").exit_code == 2


def test_sparks_are_no_wider_than_asked_and_flat_where_nothing_changes():
    assert len(sparks(list(range(1, 200)), 16)) == 16
    assert len(set(sparks([100.0] * 5))) == 1
    assert sparks([0.0, 0.0]) == "▁▁"


def _git(folder, *words):
    author = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", "-C", str(folder), *author, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_commits_of_a_repository_are_ordered_and_those_between_named(tmp_path):
    _git(tmp_path, "init", "-q")
    digits = []
    for subject in ("one", "two", "three"):
        _git(tmp_path, "commit", "-q", "--allow-empty", "-m", subject)
        digits.append(_git(tmp_path, "rev-parse", "HEAD"))
    git = Repository(tmp_path)
    short = [one[:10] for one in digits]
    order = git.order([short[2], short[0], "--all", "nothing"])
    assert order == {short[0]: 0, short[2]: 2}
    commits_, count = git.between(short[0], short[2])
    assert [one.subject for one in commits_] == ["three", "two"]
    assert count == 2
    assert git.between("nothing", short[2]) == ([], 0)


def test_a_folder_without_git_is_refused(tmp_path):
    with pytest.raises(GitError, match="not a git repository"):
        Repository(tmp_path)
