"""A campaign as pages to hand over: all versions and scenarios in tables, then a page a scenario.

Each version is compared with the first; marks say which differences are more than noise.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from linerate.base.published import Number, Output, published
from linerate.report.document import (
    LIMIT,
    NONE,
    Column,
    Document,
    Heading,
    Lead,
    Listing,
    Note,
    Section,
    Table,
    figures,
    text,
)
from linerate.report.figures import versions as drawn
from linerate.report.figures.picture import PALETTE, path_order
from linerate.report.framed import filled
from linerate.report.terminal import mpps
from linerate.results.dataset.columns import COLUMNS
from linerate.results.dataset.row import TrialRow
from linerate.results.statistics import p_text
from linerate.results.trend.inside import Part
from linerate.results.trend.series import CYCLES, RATE, FigureName
from linerate.results.versions import Against, Judgement, Test, Versions

MARKS: dict[Judgement, str] = {"faster": "▲", "slower": "▼", "same": "=", "unknown": "?"}
EXPLAINED = (
    "Medians of the valid trials. Against the first version: ▲ better and ▼ worse by more than "
    "noise, = no more than noise, ? too few trials to tell (Mann–Whitney rank tests of the trials, "
    "Holm over all that is compared, 5 %)."
)
#: Files beside the pages.
CSV_FILE, PARQUET_FILE, INDEX_FILE = "trials.csv", "trials.parquet", "index.html"
NO_SCENARIO = "no scenario"
#: Nodes of a changed test that a line names.
NAMED = 3
_OTHER = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Campaign:
    """The subject of the campaign, and its name."""

    name: str
    rows: Sequence[TrialRow]
    found: Versions

    @property
    def pages(self) -> dict[str, str]:
        """By scenario, the file of its page."""
        made: dict[str, str] = {}
        for scenario in self.found.scenarios:
            stem = _OTHER.sub("-", scenario).strip("-").lower() or "scenario"
            taken = {*made.values(), INDEX_FILE}
            names = (f"{stem}{f'-{n}' if n > 1 else ''}.html" for n in range(1, len(taken) + 2))
            made[scenario] = next(name for name in names if name not in taken)
        return made


def index(campaign: Campaign) -> Document:
    """The first page: all versions and tests, what differs, what to download."""
    found = campaign.found
    tables = (
        _table(campaign, RATE, "Packets a second, Mpps"),
        _table(campaign, CYCLES, "Cycles a packet"),
    )
    return Document(
        title=f"Campaign {campaign.name}",
        sections=filled(
            (
                _lead(campaign),
                Heading("Results", "results"),
                *tables,
                Note(EXPLAINED),
                Heading("What differs", "differs"),
                *_differs(campaign, found.tests),
                Heading("Scenarios", "scenarios"),
                _scenarios(campaign),
                Heading("Conditions", "conditions"),
                *_conditions(campaign.rows),
                Heading("Downloads", "downloads"),
                _downloads(campaign),
            )
        ),
        data=partial(output, campaign),
        schema="campaign-report",
        sheet=partial(trial_rows, campaign.rows),
        page_title=f"{campaign.name}: linerate campaign",
        about=_about(campaign),
    )


def scenario_page(campaign: Campaign, scenario: str) -> Document:
    """One scenario: each test's versions in a table and pictures."""
    tests = campaign.found.scenarios[scenario]
    parts = [part for at, one in enumerate(tests, 1) for part in _test(campaign, at, one)]
    back = Table("Up", text("page"), ((f"All of {campaign.name}",),), titled=False,
                 files={f"All of {campaign.name}": INDEX_FILE})  # fmt: skip
    rates = _table(campaign, RATE, "Packets a second, Mpps", tests)
    cycles = _table(campaign, CYCLES, "Cycles a packet", tests)
    return Document(
        title=f"{scenario or NO_SCENARIO}: campaign {campaign.name}",
        sections=filled(
            (
                back,
                Heading("Results", "results"),
                rates,
                cycles,
                Note(EXPLAINED),
                *_differs(campaign, tests),
                *parts,
            )
        ),
        data=partial(output, campaign),
        page_title=f"{scenario or NO_SCENARIO}: {campaign.name}",
        about=_about(campaign),
    )


def _about(campaign: Campaign) -> tuple[tuple[str, str], ...]:
    times = [one.started for one in campaign.rows]
    testbeds = sorted({one.testbed for one in campaign.rows if one.testbed})
    valid = sum(one.valid for one in campaign.rows)
    pairs = (
        ("measured", f"{min(times):%-d %B %Y} to {max(times):%-d %B %Y}"),
        ("testbeds", ", ".join(testbeds)),
        ("versions", f"{len(campaign.found.versions)}"),
        ("trials", f"{len(campaign.rows):,}, of them valid {valid:,}"),
        ("written", f"{datetime.now(UTC):%-d %B %Y, %H:%M UTC}"),
    )
    return tuple((name, value) for name, value in pairs if value)


def _lead(campaign: Campaign) -> Lead:
    """Number of differences, and the largest for the worse."""
    found = campaign.found
    judged = [
        (test, version, figure, one)
        for test in found.tests
        for (version, figure), one in test.against.items()
    ]
    worse = [one for one in judged if one[3].judgement == "slower"]
    better = [one for one in judged if one[3].judgement == "faster"]
    base = found.versions[0]
    facts = (
        ("compared", f"{len(judged)}"),
        ("better", f"{len(better)}"),
        ("worse", f"{len(worse)}"),
    )
    others = len(found.versions) - 1
    subject = f"{others} {'version' if others == 1 else 'versions'} against {base}"
    if not others:
        return Lead(base, "", "One version", "There is no other to compare it with.")
    if not worse:
        few = sum(one[3].judgement == "unknown" for one in judged)
        unknown = f" {few} of {len(judged)} have too few trials to tell." if few else ""
        return Lead("None worse", "", subject, f"No figure is worse by more than noise.{unknown}",
                    facts=facts)  # fmt: skip
    test, version, figure, most = max(worse, key=lambda one: abs(one[3].percent))
    return Lead(
        value=f"{most.percent:+.1f} %",
        unit="cycles a packet" if figure == CYCLES else "packets a second",
        subject=subject,
        verdict=f"{version} is worst in {test.key.text} (p = {p_text(most.p)}).",
        tone="limited",
        facts=facts,
    )


def _table(
    campaign: Campaign, figure: FigureName, title: str, tests: Sequence[Test] | None = None
) -> Table:
    """Tests down, versions across; without the figure it has no rows."""
    shown = [
        one
        for one in (campaign.found.tests if tests is None else tests)
        if any(cell.values(figure) for cell in one.cells.values())
    ]
    versions = campaign.found.versions
    rows = tuple(
        (one.key.text, *(_cell(one, version, figure) for version in versions)) for one in shown
    )
    columns = (*text("test"), *(Column(one, "figure") for one in versions))
    pages = campaign.pages
    files = {one.key.text: pages[one.key.scenario] for one in shown} if tests is None else {}
    return Table(title, columns, rows, block=1, files=files)


def _cell(test: Test, version: str, figure: FigureName) -> str:
    middle = test.cells[version].middle(figure) if version in test.cells else None
    if middle is None:
        return NONE
    value = mpps(middle) if figure == RATE else f"{middle:,.1f}"
    against = test.against.get((version, figure))
    return value if against is None else f"{value} {_mark(against)}"


def _mark(against: Against) -> str:
    mark = MARKS[against.judgement]
    return f"{mark} {against.percent:+.1f} %" if against.judgement != "same" else mark


def _differs(campaign: Campaign, tests: Sequence[Test]) -> Iterator[Section]:
    """A line for each difference that is more than noise: cycles with their nodes."""
    lines = [
        (f"{test.key.text}, {version}", line)
        for test in tests
        for version in campaign.found.versions
        for line in _differences(test, version)
    ]
    base = campaign.found.versions[0]
    yield Listing(f"Against {base}", ("test, version", "difference"), tuple(lines))
    needed = max((one.trials_needed for test in tests for one in test.against.values()), default=0)
    if needed:
        yield Note(f"Some have too few trials to tell: {needed} of each would do.", "doubt")
    elif not lines:
        yield Note("Nothing differs by more than noise.", "passed")


def _differences(test: Test, version: str) -> Iterator[str]:
    """Figures that differ by more than noise, and nodes."""
    for figure, what in ((RATE, "packets a second"), (CYCLES, "cycles a packet")):
        one = test.against.get((version, figure))
        if one is not None and one.judgement in ("faster", "slower"):
            p = p_text(one.p)
            p_words = f"p {p if p.startswith('<') else '= ' + p}"
            yield f"{MARKS[one.judgement]} {one.percent:+.1f} % {what} ({p_words})"
    if nodes := test.changed_nodes.get(version, ())[:NAMED]:
        yield f"cycles of nodes: {', '.join(map(_node, nodes))}"


def _node(part: Part) -> str:
    new = " (a new node)" if not part.before else " (gone)" if not part.after else ""
    return f"{part.name} {part.by:+.1f}{new}"


def _scenarios(campaign: Campaign) -> Table:
    pages = campaign.pages
    rows = tuple(
        (
            scenario or NO_SCENARIO,
            str(len(tests)),
            *(str(_count(tests, which)) for which in ("faster", "slower", "same", "unknown")),
        )
        for scenario, tests in campaign.found.scenarios.items()
    )
    columns = (
        *text("scenario"),
        *figures("tests", "▲ better", "▼ worse", "= same", "? too few"),
    )
    files = {scenario or NO_SCENARIO: page for scenario, page in pages.items()}
    return Table("A page for each", columns, rows, titled=False, files=files)


def _count(tests: Sequence[Test], which: Judgement) -> int:
    return sum(one.judgement == which for test in tests for one in test.against.values())


def _conditions(rows: Sequence[TrialRow]) -> Iterator[Section]:
    """Machines, and what was left out."""
    machines = {
        (one.testbed, one.cpu, one.kernel, one.microcode, one.bios, one.nic, one.nic_firmware)
        for one in rows
    }
    names = ("testbed", "CPU", "kernel", "microcode", "BIOS", "NIC", "NIC firmware")
    known = [at for at in range(len(names)) if any(one[at] for one in machines)]
    yield Table(
        "Machines",
        text(*(names[at] for at in known)),
        tuple(tuple(one[at] or NONE for at in known) for one in sorted(machines)),
    )
    reasons: dict[str, int] = {}
    for one in rows:
        for why in (one.invalid or one.suspect).split("; "):
            if why:
                reasons[why] = reasons.get(why, 0) + 1
    ordered = sorted(reasons.items(), key=lambda item: -item[1])
    yield Table(
        "Doubts about trials, which are not counted where there are others",
        (Column("reason", "text"), *figures("trials")),
        tuple((why, f"{count:,}") for why, count in ordered[:20]),
        closed=True,
    )


def _downloads(campaign: Campaign) -> Table:
    trials = f"{len(campaign.rows):,} trials, a row each"
    rows = (
        (CSV_FILE, f"{trials}, for spreadsheets"),
        (PARQUET_FILE, f"{trials}, for DuckDB, pandas, Spark; docs/dataset.md has the columns"),
    )
    files = {name: name for name, _ in rows}
    return Table("Files beside this page", text("file", "contents"), rows, titled=False,
                 files=files)  # fmt: skip


def _test(campaign: Campaign, number: int, test: Test) -> Iterator[Section]:
    versions = campaign.found.versions
    yield Heading(test.key.text, f"test-{number}")
    yield Table("Versions", (*text("version"), *TEST_COLUMNS, *LIMIT),
                tuple(_row(test, one) for one in versions if one in test.cells),
                titled=False)  # fmt: skip
    for figure, title in ((RATE, "Packets a second"), (CYCLES, "Cycles a packet")):
        if any(cell.values(figure) for cell in test.cells.values()):
            yield drawn.bars(f"{figure.replace('_', '-')}-{number}", title, test, versions, figure)
    if known := _known_nodes(test, versions):
        yield drawn.nodes(f"nodes-{number}", test, versions, known)


def _known_nodes(test: Test, versions: Sequence[str]) -> list[str]:
    """Nodes that take most in any version, in path order."""
    tops: dict[str, float] = {}
    for version in versions:
        if version in test.cells:
            for name, cycles in drawn.node_middles(test, version).items():
                tops[name] = max(tops.get(name, 0.0), cycles)
    most = sorted(tops, key=lambda name: -tops[name])[: len(PALETTE)]
    return path_order(most)


TEST_COLUMNS = (
    *figures("trials", "Mpps", "rate change", "p", "cycles", "cycles change"),
    Column("lost", spelled="lost, %"),
    Column("p99", spelled="p99, µs"),
)


def _row(test: Test, version: str) -> tuple[str, ...]:
    cell = test.cells[version]
    rate, cycles = test.against.get((version, RATE)), test.against.get((version, CYCLES))
    middle, cost = cell.middle(RATE), cell.middle(CYCLES)
    lost = [one.loss_percent for one in cell.trials if one.loss_percent is not None]
    tops = [one.latency_p99_us for one in cell.trials if one.latency_p99_us is not None]
    limits = [one.limit for one in cell.trials if one.limit]
    left = f" (+{cell.left_out} left out)" if cell.left_out else ""
    return (
        version,
        f"{len(cell.trials)}{left}",
        NONE if middle is None else mpps(middle),
        NONE if rate is None else _mark(rate),
        NONE if rate is None else p_text(rate.p),
        NONE if cost is None else f"{cost:,.1f}",
        NONE if cycles is None else _mark(cycles),
        f"{sorted(lost)[len(lost) // 2]:.3f}" if lost else NONE,
        f"{sorted(tops)[len(tops) // 2]:.1f}" if tops else NONE,
        max(set(limits), key=limits.count) if limits else NONE,
    )


def trial_rows(rows: Sequence[TrialRow]) -> Iterator[Sequence[object]]:
    """Head, and a row for each trial; a column for each of the dataset's."""
    yield tuple(COLUMNS)
    for one in rows:
        found = one.model_dump(mode="json")
        cells = (found[name] for name in COLUMNS)
        yield tuple("" if cell is None else _flat(cell) for cell in cells)


def _flat(cell: object) -> object:
    """A map as NAME=VALUE, with semicolons between."""
    if isinstance(cell, dict):
        return "; ".join(f"{name}={value}" for name, value in cell.items())
    return cell


class AgainstOutput(Output):
    """A figure of a version in a test, against the first version's."""

    test: str
    scenario: str
    version: str
    figure: FigureName
    trials: int
    #: Median.
    value: Number
    #: None of the first version.
    change_percent: Number | None
    #: Probability that chance alone makes it.
    p: Number | None
    judgement: Judgement | None


@published("campaign-report", "JSON of `linerate report --campaign --json`")
class CampaignOutput(Output):
    """All versions and tests of a campaign."""

    campaign: str
    #: The first is what the others are compared with.
    versions: tuple[str, ...]
    results: tuple[AgainstOutput, ...]


def output(campaign: Campaign) -> CampaignOutput:
    """The same for programs, figures unrounded."""
    return CampaignOutput(
        campaign=campaign.name,
        versions=campaign.found.versions,
        results=tuple(_outputs(campaign.found)),
    )


def _outputs(found: Versions) -> Iterator[AgainstOutput]:
    for test in found.tests:
        for version, cell in test.cells.items():
            for figure in (RATE, CYCLES):
                value = cell.middle(figure)
                if value is None:
                    continue
                against = test.against.get((version, figure))
                yield AgainstOutput(
                    test=test.key.text,
                    scenario=test.key.scenario,
                    version=version,
                    figure=figure,
                    trials=len(cell.values(figure)),
                    value=value,
                    change_percent=against.percent if against else None,
                    p=against.p if against else None,
                    judgement=against.judgement if against else None,
                )
