"""`linerate explain`: the verdict on a run, or on files that other tools wrote."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from linerate.analysis.explain import Verdict, explain
from linerate.cli.completion import complete_run
from linerate.cli.options import JsonOption
from linerate.model.evidence import Evidence
from linerate.parsers.files import evidence_of_files
from linerate.parsers.text import TextError
from linerate.report import json_output, verdict
from linerate.results.store import StoreError, load_run
from linerate.results.verdicts import judged_again
from linerate.ui.console import Console
from linerate.ui.screen import say


def explain_command(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="A run's folder, or files with what other tools printed during one trial.",
            metavar="RUN|FILE…",
            autocompletion=complete_run,
        ),
    ],
    test: Annotated[
        str | None, typer.Option(help="Of a run: only this loadtest.", metavar="U2")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Name what limits a forwarder: the evidence, the arithmetic, what to try.

    Reads runs of linerate, and what people paste: VPP's show runtime, show errors, show
    interface, show hardware-interfaces; TRex's statistics; testpmd's; dmesg and lspci;
    ethtool -S; /proc/net/softnet_stat and /proc/interrupts; RIOT's ring and port statistics.
    """
    if any(is_run(path) for path in sources):
        if len(sources) > 1:
            raise typer.BadParameter("one run, or files: not both, and one run at a time")
        _explain_run(sources[0], test, as_json)
        return
    try:
        evidence = evidence_of_files(sources)
    except TextError as error:
        raise StoreError(str(error)) from error
    _explain_files(evidence, as_json)


def is_run(path: Path) -> bool:
    """Whether it is a run's folder, or the run.json in one."""
    return path.is_dir() or path.name == "run.json"


def _explain_run(path: Path, test: str | None, as_json: bool) -> None:
    folder = path if path.is_dir() else path.parent
    run = judged_again(folder, load_run(path))
    results = [
        result for result in run.reported() if test is None or result.test.lower() == test.lower()
    ]
    if not results:
        measured = ", ".join(result.test for result in run.reported()) or "nothing"
        raise StoreError(f"{path}: no loadtest '{test}'; {measured} was measured")
    if as_json:
        _print_json(
            [
                {"test": result.test, "verdict": json_output.verdict(result.verdict)}
                for result in results
            ]
        )
        return
    console = Console()
    for result in results:
        verdict.report(console, result.verdict, f"{result.test}  {result.text}")


def _explain_files(evidence: Evidence, as_json: bool) -> None:
    found: Verdict = explain(evidence)
    if as_json:
        _print_json(
            {
                "verdict": json_output.verdict(found),
                "doubts": [quote.model_dump() for quote in evidence.doubts],
                "unread": [quote.model_dump() for quote in evidence.unread],
            }
        )
        return
    console = Console()
    verdict.report(console, found, "")
    verdict.leftovers(console, evidence)


def _print_json(document: Any) -> None:  # noqa: ANN401 (what JSON can hold)
    say(json.dumps(document, indent=1))
