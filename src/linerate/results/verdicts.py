"""Verdicts over a whole run: each trial is judged beside the others of its testbed."""

from collections.abc import Mapping
from pathlib import Path

from linerate.analysis.explain import Verdict, explain
from linerate.analysis.measured_evidence import evidence_of, sibling_of
from linerate.model.evidence import Evidence
from linerate.results.store import Result, Run, load_evidence


def source_of(trial: str) -> str:
    """Name a trial's evidence file, within the run's folder."""
    return f"evidence/{trial}.json"


def verdicts(trials: Mapping[str, Evidence]) -> dict[str, Verdict]:
    """Judge each trial, the others being its siblings."""
    siblings = {name: sibling_of(evidence) for name, evidence in trials.items()}
    judged = {}
    for name, evidence in trials.items():
        others = tuple(sibling for other, sibling in siblings.items() if sibling and other != name)
        judged[name] = explain(
            evidence.model_copy(update={"siblings": (*evidence.siblings, *others)})
        )
    return judged


def judged_together(run: Run, evidence: Mapping[str, Evidence]) -> Run:
    """Judge trials again, each beside those of the same configuration; `evidence` by trial."""
    for configuration in dict.fromkeys(result.configuration for result in run.results):
        known = {
            result.trial: evidence[result.trial]
            for result in run.results
            if result.configuration == configuration and result.trial in evidence
        }
        run = with_verdicts(run, verdicts(known))
    return run


def evidence_of_result(folder: Path, result: Result) -> Evidence:
    """Read what was measured for a result. Raises StoreError."""
    text, measurement = load_evidence(folder, result.trial)
    return evidence_of(measurement, result.test, source_of(result.trial), result.invalid, text)


def judged_again(folder: Path, run: Run) -> Run:
    """Judge all trials of a run anew from its evidence files. Raises StoreError."""
    results = run.reported()
    trials = {result.trial: evidence_of_result(folder, result) for result in results}
    return judged_together(run, trials)


def with_verdicts(run: Run, judged: Mapping[str, Verdict]) -> Run:
    """Put verdicts, by trial, into a run's results."""
    results = tuple(
        result.model_copy(update={"verdict": judged.get(result.trial, result.verdict)})
        for result in run.results
    )
    return run.model_copy(update={"results": results})
