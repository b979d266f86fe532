"""`linerate bisect`: the first commit that made a forwarder dearer."""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from linerate import __version__
from linerate.cli.bisect_progress import BisectBar
from linerate.cli.bisect_traffic import TrafficOptions, offered
from linerate.cli.durations import as_percent, as_seconds
from linerate.cli.option_classes import with_option_classes
from linerate.cli.options import JsonOption
from linerate.cli.run_into_folder import BY_SIGNAL, signals
from linerate.cli.testbed_options import TestbedOptions
from linerate.cli.usage import GATE_UNKNOWN, mistaken
from linerate.experiments.bench import Interrupted
from linerate.experiments.bisection.record import RecordFolder
from linerate.experiments.bisection.run import Runner
from linerate.experiments.campaign.builds import engine_of
from linerate.host import cpu_locks, machine, session_share
from linerate.host.git_commits import Repository
from linerate.model.campaign import Version
from linerate.model.commit import Commit
from linerate.report import bisection as report
from linerate.report.render import json as as_json_text
from linerate.report.render import terminal
from linerate.results.bisection.answer import Outcome, outcome
from linerate.results.bisection.search import Asked, Bisection
from linerate.results.repeats_to_tell import REPEATS_MAX
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

#: Exit code where good and bad can't be distinguished: there is nothing to be found.
ALIKE = 3
CODES: dict[Outcome, int] = {"found": 0, "alike": ALIKE, "range": GATE_UNKNOWN}
#: The engine of this project, as its build leaves it.
ENGINE = "build/engine/linerate-engine"
#: Fewer rounds can show nothing.
ROUNDS_MIN = 12


@dataclass(frozen=True, slots=True)
class VersionOptions:
    """Commits, and how each is built."""

    good: Annotated[
        str, typer.Option(help="Commit, tag or branch that was as it should be.", metavar="COMMIT")
    ]
    bad: Annotated[str, typer.Option(help="A later one that is dearer.", metavar="COMMIT")]
    build: Annotated[
        str,
        typer.Option(help="Builds an engine, by sh in a checkout of its own.", metavar="'CMD'"),
    ]
    engine: Annotated[
        str, typer.Option(help="The engine that it makes, in that checkout.", metavar="PATH")
    ] = ENGINE
    repo: Annotated[
        Path,
        typer.Option(
            "--repo", "--repository", help="Git's folder with the commits.", metavar="DIR"
        ),
    ] = Path()

    def version(self, commit: str) -> Version:
        """A commit with its build. Raises ValidationError."""
        return Version(name=commit[:10], commit=commit, build=self.build, engine=self.engine)


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """Length of trials, and when an answer is sure enough."""

    duration: Annotated[
        float, typer.Option(help="How long each trial sends.", parser=as_seconds, metavar="150ms")
    ] = "150ms"  # type: ignore[assignment]  # the parser makes a number of it
    precision: Annotated[
        float,
        typer.Option(
            help="Smaller changes are none, of all cycles.", parser=as_percent, metavar="3%"
        ),
    ] = "3%"  # type: ignore[assignment]
    significance: Annotated[
        float,
        typer.Option(
            help="Probability of a wrong answer, at most.", parser=as_percent, metavar="5%"
        ),
    ] = "5%"  # type: ignore[assignment]
    pairs: Annotated[
        int,
        typer.Option(
            help="Pairs of good and bad, and rounds of each commit between, at most.",
            min=ROUNDS_MIN,
            max=REPEATS_MAX,
        ),
    ] = 40

    @property
    def asked(self) -> Asked:
        """The same for a bisection."""
        if not 0 < self.significance < 50:
            mistaken("--significance: expected more than 0 % and less than 50 %")
        return Asked(self.significance / 100, self.precision, self.pairs)


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """Where the record is kept, and how the answer is printed."""

    runs: Annotated[
        Path, typer.Option("--runs", help="Where the bisection's folder is kept, to go on with.")
    ] = Path("runs")
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait while another run uses the CPUs, rather than end.")
    ] = False
    as_json: JsonOption = False


@with_option_classes
def bisect(
    *,
    versions: VersionOptions,
    traffic: TrafficOptions,
    testbed: TestbedOptions,
    limits: LimitOptions,
    output: RecordOptions,
) -> None:
    """Find the first commit that made the forwarder dearer, by statistics over repeated trials.

    Good and bad are measured in turn, then each commit in the middle with them.

    Given again, the same command goes on where it stopped.

    Ends with 0: one commit; 3: good and bad are alike; 4: one of several.
    """
    repository = Repository(versions.repo)
    commits = repository.line(versions.good, versions.bad)
    bisection = Bisection([one.digits for one in commits], limits.asked)
    place = str(repository.top)
    with offered(traffic, testbed, limits.duration) as used:
        question = {
            "good": commits[0].digits,
            "bad": commits[-1].digits,
            "repository": place,
            "build": versions.build,
            "engine": versions.engine,
            "precision": f"{limits.precision:g}",
            "significance": f"{limits.significance:g}",
            "linerate": __version__,
            **used.question,
        }
        folder = RecordFolder(output.runs, question)
        runner = partial(Runner, bisection, folder, _builder(versions, place), used.measurer)
        cpus = used.testbed.cpus or machine.allowed_cpus()
        code = _run(runner, folder, cpus, output)
    found = report.Bisected(bisection, commits, folder.record, _again(commits, bisection))
    document = report.document(found)
    if output.as_json:
        say(as_json_text.render(document))
    else:
        terminal.show(Console(), document)
    if not code and found.found != "unfinished":
        code = CODES[found.found]
    raise typer.Exit(code)


def _run(
    runner: Callable[[BisectBar], Runner],
    folder: RecordFolder,
    cpus: Sequence[int],
    output: RecordOptions,
) -> int:
    """Run it while no other run has the CPUs; 0, or the exit code of the signal that ended it."""
    on_wait = complain if output.wait else None
    with (
        signals(),
        folder.held(),
        cpu_locks.held(cpus, on_wait),
        session_share.raised(),
        BisectBar() as bar,
    ):
        try:
            runner(bar).run()
        except Interrupted as interrupted:
            return BY_SIGNAL + interrupted.signal_number
    return 0


def _builder(versions: VersionOptions, repository: str) -> Callable[[str], Path]:
    try:
        versions.version("a" * 40)
    except ValidationError:
        mistaken(f"--engine: expected a path below the checkout, as {ENGINE}")

    def build(commit: str) -> Path:
        engine = engine_of(versions.version(commit), repository)
        assert engine is not None, "a commit has one"
        return engine

    return build


def _again(commits: Sequence[Commit], bisection: Bisection) -> str:
    """The command that measures a change by itself: of its commit and the one before."""
    if outcome(bisection) != "found":
        return ""
    ends = {"--good": commits[bisection.low].digits, "--bad": commits[bisection.high].digits}
    words = [word for name, digits in ends.items() for word in (name, digits[: report.DIGITS])]
    return shlex.join(["linerate", "bisect", *words, *_without(sys.argv[2:], set(ends))])


def _without(words: Sequence[str], names: set[str]) -> list[str]:
    """Words of a command line without some options and their values."""
    kept, skip = [], False
    for word in words:
        name, sign, _ = word.partition("=")
        if name in names:
            skip = not sign
        elif skip:
            skip = False
        else:
            kept.append(word)
    return kept
