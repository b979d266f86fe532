"""`linerate collect`: the outputs that `linerate explain` reads, in one archive."""

import io
import re
import tarfile
import time
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from linerate.base.atomic_write import write_bytes_whole
from linerate.base.published import Output, printed, published
from linerate.cli.completion import one_of
from linerate.cli.options import JsonOption
from linerate.cli.usage import mistaken, report_user_errors
from linerate.lab.box.access import opened
from linerate.lab.collecting import COMMANDS, Collected, collect
from linerate.model.box import At
from linerate.ui.screen import complain, say


@published("collect", "JSON of `linerate collect --json`")
class CollectOutput(Output):
    """A bundle that was written."""

    file: str
    #: Names of the outputs in it.
    files: tuple[str, ...]
    #: Command lines that gave nothing, and why.
    left_out: dict[str, str]


def collect_command(
    where: Annotated[
        str,
        typer.Argument(
            help="Host to collect from: ssh://LOGIN@HOST, netns:NAME, container:NAME.",
            metavar="[PLACE]",
            autocompletion=one_of(["ssh://root@", "local", "netns:", "container:"]),
        ),
    ] = "local",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Archive to write.", metavar="FILE.tar.gz")
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Time between the two readings of counters.", min=0, max=3600)
    ] = 5.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the commands that would run.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Collect what a forwarder's host counts into an archive that `linerate explain` reads.

    Only commands that read are run; each is listed before it runs. Look into the archive before
    you give it away: it has the names of interfaces and devices.
    """
    if dry_run:
        for one in COMMANDS:
            say(one.line)
        return
    place = _place(where)
    path = output or Path(f"linerate-{_plain(where)}-{time.strftime('%Y%m%d-%H%M%S')}.tar.gz")
    if path.exists():
        mistaken(f"{path} is there already: give another name with --output")
    with report_user_errors(), opened(place) as access:
        found = collect(access, lambda: time.sleep(seconds), lambda line: complain(f"$ {line}"))
        _write(path, found)
    if as_json:
        say(
            printed(
                "collect",
                CollectOutput(file=str(path), files=tuple(found.files), left_out=found.left_out),
            )
        )
        return
    for line, why in found.left_out.items():
        complain(f"left out: {line[:60]}: {why}")
    say(f"{path}: {len(found.files)} outputs; now: linerate explain {path}")


def _place(where: str) -> str:
    try:
        return TypeAdapter(At).validate_python(where)
    except ValidationError as error:
        mistaken(f"{where}: {error.errors()[0]['msg']}")


def _plain(where: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "-", where.rpartition("@")[2]).strip("-")[:40] or "host"


def _write(path: Path, found: Collected) -> None:
    """Write the archive, whole or not at all."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in found.files.items():
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(data), 0o644, int(time.time())
            archive.addfile(member, io.BytesIO(data))
    write_bytes_whole(path, content.getvalue())
