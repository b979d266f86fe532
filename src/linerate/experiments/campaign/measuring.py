"""One attempt at one unit, on the worker that owns the testbed."""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from linerate.base import ownership
from linerate.base.atomic_write import write_whole
from linerate.base.errors import TestbedError, UserError
from linerate.experiments.campaign import builds, children, machine_turn
from linerate.experiments.campaign.job import Job, Kind, Outcome
from linerate.host.netns import namespaces
from linerate.host.netns.privilege import search_path
from linerate.host.netns.programs import in_namespace
from linerate.model.scenario import load as load_scenario
from linerate.model.testbed import Testbed
from linerate.results.dataset.row import TrialKeys
from linerate.results.dataset.rows_of import rows_of
from linerate.results.store import Run, StoreError, load_run


class _NothingError(UserError):
    """An attempt without a result."""

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(reason)
        self.kind: Kind = kind


def measure(job: Job, task: str) -> Outcome:
    """Measure a unit, as a task of this key; whatever is wrong stands in the outcome."""
    try:
        with children.task(task):
            return _measured(job)
    except _NothingError as error:
        return _nothing(job, error.kind, str(error))
    except builds.BuildError as error:
        return _nothing(job, "unbuilt", str(error))
    except children.EndedError as error:
        return _nothing(job, "ended", str(error))
    except (UserError, OSError) as error:
        return _nothing(job, "failed", str(error).splitlines()[0])


def _nothing(job: Job, kind: Kind, reason: str) -> Outcome:
    return Outcome(key=job.unit.key, testbed=job.testbed.name, kind=kind, reason=reason)


def _measured(job: Job) -> Outcome:
    _check_scenario(job)
    engine = builds.engine_of(job.unit.version, job.repository)
    turn = machine_turn.beside_others if job.together else machine_turn.alone
    with turn(children.ended), _bed(job) as bed:
        began_s = time.monotonic()
        done = children.run(_command(job, bed), _environment(engine), job.limit_seconds)
    folder = _folder_of_run(done)
    if folder is None:
        raise _NothingError("failed", done.last_words)
    return _judged(job, folder, time.monotonic() - began_s)


def _check_scenario(job: Job) -> None:
    if load_scenario(job.scenario).digest != job.unit.digest:
        raise UserError(
            f"scenario {job.unit.scenario}: not the file that the campaign was planned with: "
            "let this machine have the same, or run the campaign again"
        )


@contextmanager
def _bed(job: Job) -> Iterator[Path | None]:
    """A file of the testbed, as JSON, which is YAML; None where it is the default."""
    try:
        bed = job.bed()
    except TestbedError as error:
        raise UserError(error.lines[0]) from error
    if bed == Testbed():
        yield None
        return
    with ownership.temporary_folder("campaign") as folder:
        path = Path(folder) / "testbed.yaml"
        write_whole(path, json.dumps(bed.model_dump(mode="json", by_alias=True), indent=1))
        yield path


def _command(job: Job, bed: Path | None) -> list[str]:
    words = [sys.executable, "-m", "linerate", *job.words(bed)]
    space = job.testbed.namespace
    if space is None:
        return words
    if not namespaces.exists(space):
        raise UserError(f"no network namespace {space}: ip netns add {space}")
    return in_namespace(space, words)


def _environment(engine: Path | None) -> Mapping[str, str]:
    """Environment of the program: not the marks of what this process itself may have started."""
    given = {name: value for name, value in os.environ.items() if name != ownership.VARIABLE}
    given["PATH"] = search_path()
    return given if engine is None else given | {"LINERATE_ENGINE": str(engine)}


def _folder_of_run(done: children.Done) -> Path | None:
    """Folder of the run that a command printed as JSON."""
    try:
        return Path(json.loads(done.output)["result"]["run"])
    except (ValueError, KeyError, TypeError):
        return None


def _judged(job: Job, folder: Path, seconds: float) -> Outcome:
    try:
        run = load_run(folder)
    except StoreError as error:
        raise _NothingError("failed", str(error)) from error
    unit = job.unit
    keys = TrialKeys(
        campaign=job.campaign,
        device=unit.box,
        version=unit.version.name,
        commit=unit.version.commit,
        setting=unit.setting_name,
        scenario=unit.scenario,
        scenario_digest=unit.digest,
        values=unit.values,
        testbed=job.testbed.name,
        load=unit.load,
        repeat=unit.repeat,
    )
    why_not = _why_not(run)
    return Outcome(
        key=unit.key,
        testbed=job.testbed.name,
        kind="disturbed" if why_not else "measured",
        reason=why_not,
        rows=tuple(rows_of(run, folder, keys)),
        run=folder.name,
        seconds=seconds,
    )


def _why_not(run: Run) -> str:
    """Why a run is no result; nothing where it is one."""
    if run.status != "complete":
        return run.problem or f"the run is {run.status}"
    reported = run.reported()
    if len(reported) < len(run.tests) or not reported:
        return run.absent[0].reason if run.absent else "not all tests were measured"
    invalid = [result for result in reported if not result.valid]
    return invalid[0].invalid[0] if invalid else ""
