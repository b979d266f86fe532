"""Scenarios as they are listed, shown and checked."""

from collections.abc import Mapping, Sequence

from linerate.analysis.scenario_frames.judging import Judgement
from linerate.analysis.scenario_frames.judging import Mistake as WrongFrames
from linerate.base.published import Output, published
from linerate.model.scenario import Box, Loaded, Scenario
from linerate.report.document import Document, Heading, Listing, Note, Section, Table, sentences
from linerate.report.document import text as words


class BoxOutput(Output):
    """Set-up of a kind of box."""

    box: str
    dut: str
    settings: dict[str, object]
    cli: str
    prepare: tuple[str, ...]
    setup: tuple[str, ...]
    teardown: tuple[str, ...]
    needs: dict[str, str]


class ScenarioOutput(Output):
    """A scenario in short."""

    name: str
    title: str
    about: str
    digest: str
    #: Values that are compared, the default first.
    values: dict[str, tuple[str, ...]]
    #: The value whose first choice is the side without the feature.
    pair: str
    boxes: tuple[str, ...]


published("scenarios", "JSON of `linerate scenario list --json`")(list[ScenarioOutput])


@published("scenario-show", "JSON of `linerate scenario show --json`")
class ShownOutput(ScenarioOutput):
    """A scenario, with the set-up of its boxes; placeholders are not filled in."""

    path: str
    setups: tuple[BoxOutput, ...]


class MistakeOutput(Output):
    """Frames that were not received as expected."""

    text: str
    frames: int
    #: Frames that were sent there.
    of: int
    sent_at: str
    #: First bytes of one of them, hexadecimal; empty where there is none.
    sent: str
    received: str


class CheckedOutput(Output):
    """Outcome for the frames of one loadtest."""

    loadtest: str
    passed: bool
    sent: int
    expected: int
    received: int
    right: int
    #: Received frames that the tester did not send.
    others: int
    mistakes: tuple[MistakeOutput, ...]
    #: Packets by place of loss.
    losses: dict[str, int]


@published("scenario-check", "JSON of `linerate scenario check --json`")
class CheckOutput(Output):
    """Whether a box is set up as a scenario says."""

    scenario: str
    digest: str
    box: str
    values: dict[str, str]
    passed: bool
    checks: tuple[CheckedOutput, ...]


def in_short(loaded: Loaded) -> ScenarioOutput:
    """One of a list."""
    return ScenarioOutput(**_short(loaded))


def _short(loaded: Loaded) -> dict[str, object]:
    scenario = loaded.scenario
    return {
        "name": scenario.name,
        "title": scenario.title,
        "about": scenario.about,
        "digest": loaded.digest,
        "values": {
            name: tuple(str(choice.value) for choice in choices)
            for name, choices in scenario.values.items()
        },
        "pair": scenario.pair,
        "boxes": tuple(scenario.boxes),
    }


def in_full(loaded: Loaded) -> ShownOutput:
    """One that is shown."""
    boxes = loaded.scenario.boxes.items()
    setups = tuple(_box_output(name, box) for name, box in boxes)
    return ShownOutput(**_short(loaded), path=str(loaded.path), setups=setups)


def _box_output(name: str, box: Box) -> BoxOutput:
    keys = ("settings", "cli", "prepare", "setup", "teardown", "needs")
    return BoxOutput(box=name, dut=box.dut or name, **{key: getattr(box, key) for key in keys})


def list_document(library: Sequence[Loaded]) -> Document:
    """All scenarios that come with linerate."""
    rows = tuple(
        (
            loaded.scenario.name,
            f"{loaded.scenario.title}; {_values_text(loaded.scenario)}".removesuffix("; "),
            ", ".join(loaded.scenario.boxes),
        )
        for loaded in library
    )
    columns = (*words("scenario"), *sentences("what is compared", "boxes"))
    return Document(
        title=f"{len(rows)} scenarios",
        sections=(Table("Scenarios", columns, rows, titled=False),),
        data=lambda: [in_short(loaded) for loaded in library],
        schema="scenarios",
    )


def _values_text(scenario: Scenario) -> str:
    return ", ".join(
        f"{name} {'/'.join(str(one.value) for one in choices)}"
        for name, choices in scenario.values.items()
    )


def show_document(loaded: Loaded, box: str | None = None) -> Document:
    """One scenario: what is compared, and how each box, or one, is set up."""
    scenario = loaded.scenario
    boxes = {name: one for name, one in scenario.boxes.items() if box in (None, name)}
    sections: list[Section] = [Note(part, "text") for part in _paragraphs(scenario.about)]
    values = tuple(
        (name, ", ".join(str(choice.value) for choice in choices))
        for name, choices in scenario.values.items()
    )
    sections.append(Listing("Compared, the default first", ("value", "choices"), values))
    for name, spec in boxes.items():
        sections += _box_sections(name, spec)
    return Document(
        title=f"{scenario.name}: {scenario.title}",
        sections=tuple(one for one in sections if not isinstance(one, Listing) or one.rows),
        data=lambda: in_full(loaded),
        schema="scenario-show",
        ending=(Note(str(loaded.path), "text"),),
    )


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _box_sections(name: str, spec: Box) -> list[Section]:
    """Set-up of one box, command by command."""
    lines: list[tuple[str, str]] = []
    if spec.dut:
        lines.append(("device", spec.dut))
    lines += [(key, str(value)) for key, value in spec.settings.items()]
    for key in ("prepare", "setup", "cli", "teardown"):
        given = getattr(spec, key)
        parts = given.splitlines() if isinstance(given, str) else given
        lines += [(key, " ".join(part.split())) for part in parts if part.strip()]
    lines += [("needs", f"{program} ({package})") for program, package in spec.needs.items()]
    if spec.mistake is not None:
        lines.append(("to plant", spec.mistake.about))
    heading = Heading(name)
    return [heading, Listing(name, ("key", "set-up"), tuple(lines), titled=False)]


def checked_output(loadtest: str, judgement: Judgement, losses: Mapping[str, int]) -> CheckedOutput:
    """Outcome for one loadtest's frames, for programs."""
    return CheckedOutput(
        loadtest=loadtest,
        passed=not judgement.mistakes,
        sent=judgement.sent,
        expected=judgement.expected,
        received=judgement.received,
        right=judgement.right,
        others=judgement.others,
        mistakes=tuple(_mistake_output(one) for one in judgement.mistakes),
        losses=dict(losses),
    )


def _mistake_output(one: WrongFrames) -> MistakeOutput:
    keys = ("text", "frames", "of", "sent_at", "sent", "received")
    return MistakeOutput(**{key: getattr(one, key) for key in keys})


def check_lines(one: CheckedOutput) -> list[str]:
    """Outcome for one loadtest's frames, in lines."""
    counts = f"{one.sent:,} frames sent, {one.right:,} of {one.expected:,} as expected"
    others = f", {one.others:,} others received" if one.others else ""
    word = "ok" if one.passed else "FAULT"
    lines = [f"{word:<7}{one.loadtest:<16}{counts}{others}"]
    lines += [f"       {_sentence(mistake)}" for mistake in one.mistakes]
    if one.losses and not one.passed:
        named = ", ".join(f"{place} {packets:,}" for place, packets in one.losses.items())
        lines.append(f"       lost: {named}")
    return lines


def _sentence(one: MistakeOutput) -> str:
    return WrongFrames(one.text, one.frames, one.of, one.sent_at).sentence
