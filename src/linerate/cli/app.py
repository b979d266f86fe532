"""The `linerate` command: its commands, in the order in which help lists them."""

import signal
import sys
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from linerate.base.errors import UserError
from linerate.cli.lazy_group import Listed, group_of
from linerate.ui.screen import complain, let_go, one_line, say, show_errors_clean

FAILED = 1

#: A command is one thin function in a module of its own, which is imported when it is called.
COMMANDS = (
    Listed(
        "bench",
        "linerate.cli.commands.bench:bench",
        "Run the loadtests of a suite and say how fast, where packets were lost, what limits.",
        "Examples:\n\n"
        "[bold]linerate bench[/] # all eight on a virtual 10 GbE card\n\n"
        "[bold]linerate bench --only U2,B2 --card cx5-en --workers 2[/]\n\n"
        "[bold]linerate bench --traffic imix --rate 40%[/] # a profile instead of the suite\n\n"
        "[bold]linerate bench testbed.yaml --duration 30s --json[/]\n\n"
        "[bold]linerate bench --only U2 --repeat 5[/] # median, spread; `compare` ranks two",
    ),
    Listed(
        "sweep",
        "linerate.cli.commands.sweep:sweep",
        "Measure rate and % of line over frame sizes, trials repeated and alternating.",
        "Examples:\n\n[bold]linerate sweep[/] # a router on a virtual card, 64 to 1518 bytes\n\n"
        "[bold]linerate sweep --config mode=io --config mode=router --sizes 64:1518:64[/]\n\n"
        "[bold]linerate sweep testbed.yaml --repeat 5 --csv[/]",
    ),
    Listed(
        "search",
        "linerate.cli.commands.search:search",
        "Find the highest loads at which nothing is lost (NDR), 0.5 % (PDR), or what you allow.",
        "Examples:\n\n[bold]linerate search[/] # NDR and PDR of a router on a virtual card\n\n"
        "[bold]linerate search --loadtest B2 --goal 0.1% --card pps=2000000,link=10G[/]\n\n"
        "[bold]linerate search testbed.yaml --sizes 64,512,1518 --duration 10s --json[/]\n\n"
        "[bold]linerate search --rfc2544 --sizes 64,512,1518[/] # all four benchmarks of RFC 2544",
    ),
    Listed(
        "latency",
        "linerate.cli.commands.latency:latency",
        "Measure latency at 10 % to 100 % of the NDR, beside the bare link's.",
        "Examples:\n\n[bold]linerate latency[/] # of a router, at 10 % to 100 % of its NDR\n\n"
        "[bold]linerate latency --dut io --ndr 2e6 --loads 10,50,100 --json[/]",
    ),
    Listed(
        "soak",
        "linerate.cli.commands.soak:soak",
        "Hold a load for hours; stop with a verdict at the first loss that nothing explains.",
        "Examples:\n\n[bold]linerate soak --load 80% --for 8h[/] # a line a minute\n\n"
        "[bold]linerate soak --load 95% --of runs/20261121-101500-search --stop-at any[/] # of its "
        "NDR",
    ),
    Listed(
        "matrix",
        "linerate.cli.commands.matrix:matrix_command",
        "Run every configuration that this host can, and compare them: rate, limit, cost.",
        "Examples:\n\n[bold]linerate matrix[/] # everything that this host can run\n\n"
        "[bold]linerate matrix --list[/] # what that is, and what is missing for the rest\n\n"
        "[bold]linerate matrix --only loopback*,l2-switch --repeat 5 --json[/]",
    ),
    Listed(
        "campaign",
        "linerate.cli.commands.campaign:campaign",
        "Measure versions × settings × scenarios × loads × repeats, over several testbeds.",
    ),
    Listed(
        "bisect",
        "linerate.cli.commands.bisect:bisect",
        "Find the first commit that made the forwarder dearer, by statistics over repeated trials.",
        "Examples:\n\n"
        "[bold]linerate bisect --good v1.2 --bad main --build 'meson setup build && ninja -C build'"
        "[/]\n\n"
        "[bold]linerate bisect --good v1.2 --bad main --build 'make -j4' --engine build/engine"
        "[/] # another place\n\n"
        "[bold]linerate bisect … --scenario ip4-route --set routes=10000[/] # other traffic",
    ),
    Listed(
        "report",
        "linerate.cli.commands.report:report",
        "Make a page of a run's pictures that opens offline; or Markdown, or CSV; or a campaign's.",
        "Examples:\n\n[bold]linerate report runs/20261121-101500-router[/] # a page in the run\n\n"
        "[bold]linerate report runs/20261121-101500-router --format csv -o run.csv[/]\n\n"
        "[bold]linerate report --campaign nightly -o pages[/] # versions and scenarios",
    ),
    Listed(
        "compare",
        "linerate.cli.commands.report:compare",
        "Put runs side by side: which is faster, by how much, is it more than the spread.",
        "Examples:\n\n[bold]linerate compare runs/…-router runs/…-io[/]\n\n"
        "[bold]linerate compare A1,A2,A3 B1,B2,B3 -o compared.html --format html[/] # repeated\n\n"
        "[bold]linerate compare --baseline main runs/…-io --fail-if 'cycles>3%'[/] # a gate",
    ),
    Listed(
        "baseline",
        "linerate.cli.commands.baseline:baseline",
        "Keep runs by a name, for others to be compared with; or list those that are kept.",
        "Examples:\n\n[bold]linerate baseline main runs/20261121-101500-router[/]\n\n"
        "[bold]linerate compare --baseline main runs/20261122-101500-router[/]",
    ),
    Listed(
        "trend",
        "linerate.cli.commands.trend:trend",
        "Say where a figure changed over commits, by how much, how sure, and what changed inside.",
        "Examples:\n\n[bold]linerate trend[/] # all series of ./dataset\n\n"
        "[bold]linerate trend --repository ~/src/vpp -o trend.html[/] # a page, commits between\n\n"
        "[bold]linerate trend --since v25.06 --fail-on 3%[/] # a gate: 3 where one got slower",
    ),
    Listed(
        "datasheet",
        "linerate.cli.commands.datasheet:datasheet",
        "Put a box on a page: NDR, p99, watts, energy a packet, price, what limits; rank several.",
        "Examples:\n\n"
        "[bold]linerate datasheet runs/…-search,runs/…-latency --price 249EUR[/] # one box\n\n"
        "[bold]linerate datasheet A B C --by energy -o boxes.html --format html[/] # a ranking",
    ),
    Listed(
        "power",
        "linerate.cli.commands.power:power",
        "Read a power meter once, or give a run the readings of one afterwards.",
        "Examples:\n\n[bold]linerate power read testbed.yaml[/] # what its meter reads now\n\n"
        "[bold]linerate power read --source shelly url=http://192.168.1.7[/]\n\n"
        "[bold]linerate power attach runs/20261121-101500-router meter.csv[/]",
    ),
    Listed(
        "runs",
        "linerate.cli.commands.runs:runs_command",
        "List the runs of a folder: what was measured when, how fast, what limits.",
        "Examples:\n\n[bold]linerate runs[/] # all under ./runs, the newest first\n\n"
        "[bold]linerate runs --filter dut=router --filter 'mpps>5' --sort -mpps --json[/]",
    ),
    Listed(
        "export",
        "linerate.cli.commands.runs:export",
        "Write runs as tables (Parquet, CSV) for DuckDB, pandas, spreadsheets.",
        "Examples:\n\n[bold]linerate export --parquet tables[/] # all runs under ./runs\n\n"
        "[bold]linerate export --csv tables runs/20261121-101500-router[/] # one run",
    ),
    Listed(
        "dataset",
        "linerate.cli.commands.dataset:dataset",
        "Keep trials of many runs in one Parquet dataset: a folder, S3, sftp.",
    ),
    Listed(
        "query",
        "linerate.cli.commands.query:query",
        "Ask a dataset of trials in SQL; it can be read, and nothing else.",
        "Examples:\n\n"
        "[bold]linerate query 'select device, max(received_pps) from trials group by device'[/]\n\n"
        "[bold]linerate query --list[/] # questions that are ready\n\n"
        "[bold]linerate query --ready cycles --set old=v1.0 --set new=v1.1 --csv[/]",
    ),
    Listed(
        "serve",
        "linerate.cli.commands.serve:serve",
        "Show runs and live benches as pages, in a browser; start and stop benches from there.",
        "Examples:\n\n[bold]linerate serve[/] # pages over ./runs, on this host only\n\n"
        "[bold]linerate serve --listen 0.0.0.0:8270 --no-start[/] # others read, with a token",
    ),
    Listed(
        "exporter",
        "linerate.cli.commands.exporter:exporter_command",
        "Serve Prometheus metrics of every engine on this host, and of VPP where there is one.",
        "Examples:\n\n"
        "[bold]linerate exporter[/] # for a Prometheus on this host: 127.0.0.1:9470/metrics\n\n"
        "[bold]linerate exporter --listen 0.0.0.0:9470 --token-file /etc/linerate.token[/]",
    ),
    Listed(
        "trex",
        "linerate.cli.commands.trex:trex_command",
        "Serve TRex's stateless clients: the tester of a testbed is what they send with.",
        "Examples:\n\n[bold]linerate trex[/] # a router on a virtual card: ports 4501, 4500\n\n"
        "[bold]linerate trex testbed.yaml --listen 0.0.0.0[/] # for clients elsewhere",
    ),
    Listed(
        "top",
        "linerate.cli.commands.top:top_command",
        "Watch the engines of this host: nodes, ports, losses, rings, flows, streams.",
        "Examples:\n\n"
        "[bold]linerate top[/] # live; keys are at its foot\n\n"
        "[bold]linerate top --once --view ports[/]",
    ),
    Listed(
        "trace",
        "linerate.cli.commands.trace:trace",
        "Trace packets through the nodes of a live engine, with what each node decided.",
        "Examples:\n\n"
        "[bold]linerate trace --node ip4-input --count 10[/]\n\n"
        "[bold]linerate trace --node port-rx-e0-0 --json[/] # from the port on",
    ),
    Listed(
        "capture",
        "linerate.cli.commands.capture:capture",
        "Capture frames of a live engine's port: a line each, or a file for Wireshark.",
        "Examples:\n\n"
        "[bold]linerate capture t0 --filter 'arp or icmp'[/]\n\n"
        "[bold]linerate capture t0 --direction both --count 1000 -w t0.pcapng[/]",
    ),
    Listed(
        "explain",
        "linerate.cli.commands.explain:explain_command",
        "Name what limits a forwarder: the evidence, the arithmetic, what to try.",
        "Examples:\n\n"
        "[bold]linerate explain runs/20261121-101500-router[/] # the verdict on each trial\n\n"
        "[bold]linerate explain runtime.txt errors.txt dmesg.txt[/] # what others printed\n\n"
        "[bold]ethtool -S eth0 | linerate explain - --markdown[/] # to paste into an issue\n\n"
        "[bold]linerate explain runs/… show-errors.txt --test U2[/] # a trial, and the box's words",
    ),
    Listed(
        "collect",
        "linerate.cli.commands.collect:collect_command",
        "Collect what a forwarder's host counts into an archive that `linerate explain` reads.",
        "Examples:\n\n[bold]linerate collect ssh://root@box[/] # while the load runs\n\n"
        "[bold]linerate collect --dry-run[/] # the commands, none of which changes anything",
    ),
    Listed(
        "testbed",
        "linerate.cli.commands.testbed:testbed",
        "Write a testbed file for a box, and check it: cables, addresses, routes, first packets.",
    ),
    Listed(
        "scenario",
        "linerate.cli.commands.scenario:scenario",
        "Set a box up for a feature, check it frame by frame, measure it.",
    ),
    Listed(
        "doctor",
        "linerate.cli.commands.doctor:doctor",
        "Look at the host as an expert would before a test: what is wrong, why, how to mend it.",
        "Examples:\n\n[bold]linerate doctor[/] # what is wrong here, and how to mend it\n\n"
        "[bold]linerate doctor --cpus 2-5 --nic 05:00.0 --json[/]\n\n"
        "[bold]linerate doctor testbed.yaml[/] # what the ports of this testbed need\n\n"
        "[bold]linerate doctor --at ssh://root@box[/] # the host of a box\n\n"
        "[bold]linerate doctor --at ssh://root@box box.yaml --json[/] # and its ports' cards\n\n"
        "[bold]sudo linerate doctor --fix[/] # hugepages, governor, drivers; --undo takes it back",
    ),
    Listed(
        "clean",
        "linerate.cli.commands.clean:clean",
        "Remove processes, namespaces and folders that killed labs left behind.",
        "Examples:\n\n[bold]linerate clean --dry-run[/] # what was left behind\n\n"
        "[bold]linerate clean[/] # the same, removed",
    ),
    Listed(
        "audit",
        "linerate.cli.commands.audit:audit_table",
        "Recompute a published table: which rows contradict themselves, and why.",
        "Examples:\n\n[bold]linerate audit loadtests.csv[/]\n\n"
        "[bold]linerate audit board.csv --link 25G --json[/]",
    ),
    Listed(
        "line",
        "linerate.cli.commands.line:line",
        "Say what fits on a link and through PCIe: packets/s, L1, L2, L2 without FCS.",
        "Examples:\n\n[bold]linerate line 10G 64[/] # line rate\n\n"
        "[bold]linerate line 2.5G 64 --pps 3280000[/] # of a measured rate",
    ),
    Listed(
        "schema",
        "linerate.cli.commands.schema:schema",
        "Print the JSON Schema of what a command prints as JSON, or of a file; or list them.",
        "Examples:\n\n[bold]linerate schema[/] # names of all\n\n"
        "[bold]linerate schema bench[/] # of what `linerate bench --json` prints",
    ),
    Listed(
        "show",
        "linerate.cli.commands.show:show",
        "Tables of a live engine; ledgers of a run.",
    ),
    Listed(
        "nic",
        "linerate.cli.commands.nic:nic",
        "What a NIC can do, found out by trying.",
    ),
    Listed(
        "traffic",
        "linerate.cli.commands.traffic:traffic",
        "What a traffic profile describes, and the frames that it makes.",
    ),
)

app = typer.Typer(
    name="linerate",
    cls=group_of(COMMANDS),
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="How fast a packet forwarder is, where each lost packet went, what stops it.",
)


def _version(wanted: bool) -> None:
    if wanted:
        from linerate import __version__  # noqa: PLC0415 (not needed by other commands)

        say(f"linerate {__version__}")
        raise typer.Exit


@app.callback()
def linerate(
    _version_wanted: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options of the command itself."""


def _mistaken(error: TyperException, name: str) -> None:
    """Say in a line what is wrong with the command line; help that was shown says it all."""
    if message := " ".join(error.format_message().split()):
        of = getattr(getattr(error, "ctx", None), "command_path", name)
        complain(f"{of}: {message} (see {of} --help)")


def main() -> None:
    """Run `linerate`."""
    run_command(app, "linerate")


def run_command(command: typer.Typer, name: str) -> NoReturn:
    """Run a command and exit; every expected failure is one line."""
    show_errors_clean()
    try:
        sys.exit(command(prog_name=name, standalone_mode=False))
    except TyperException as error:
        _mistaken(error, name)
        sys.exit(error.exit_code)
    except typer.Abort:
        complain("linerate: aborted")
        sys.exit(FAILED)
    except KeyboardInterrupt as interrupted:
        sys.exit(128 + getattr(interrupted, "signal_number", signal.SIGINT))
    except UserError as error:
        complain(one_line(f"linerate: {error}"))
        sys.exit(FAILED)
    except BrokenPipeError:
        # The reader of a pipe (head, less) went away: nothing is left to say.
        let_go()
        sys.exit(FAILED)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        complain(one_line(f"linerate: {where}{(error.strerror or str(error)).lower()}"))
        sys.exit(FAILED)
