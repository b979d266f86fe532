"""Files for continuous integration: JUnit XML, and the summary that a job shows."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linerate.base.atomic_write import write_whole
from linerate.base.errors import UserError

if TYPE_CHECKING:
    from linerate.report.document import Document

JunitOption = Annotated[
    Path | None, typer.Option("--junit", help="Write JUnit XML here, too.", metavar="FILE")
]
SummaryOption = Annotated[
    Path | None,
    typer.Option(
        "--summary",
        help="Append Markdown to this file, too.",
        metavar="FILE",
        envvar="GITHUB_STEP_SUMMARY",
    ),
]
#: Larger summaries are refused by GitHub, whole.
SUMMARY_BYTES_MAX = 1 << 20


def write_ci_files(document: "Document", junit_file: Path | None, summary: Path | None) -> None:
    """Write those that are asked for. Raises UserError."""
    # Options are read by commands that make no document.
    from linerate.report.render import junit, markdown  # noqa: PLC0415

    if junit_file is not None:
        try:
            write_whole(junit_file, junit.render(document))
        except OSError as error:
            raise UserError(f"{junit_file}: {(error.strerror or str(error)).lower()}") from error
    if summary is not None:
        _append(summary, markdown.render(replace(document, details=tuple)))


def _append(path: Path, text: str) -> None:
    """Add a summary behind those of other steps, as long as there is room."""
    content = f"{text}\n\n".encode()
    try:
        with path.open("ab") as file:
            if file.tell() + len(content) <= SUMMARY_BYTES_MAX:
                file.write(content)
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}") from error
