"""A scenario made ready for a box: its testbed, its traffic, and the frames that must return."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from linerate.base import ownership
from linerate.base.atomic_write import write_whole
from linerate.base.errors import SetupError, TestbedError, UserError
from linerate.base.prerequisites import Prerequisite
from linerate.base.validation import mistake
from linerate.host.netns import namespaces
from linerate.host.netns.privilege import missing_privilege, missing_program
from linerate.lab import rig
from linerate.lab.dut._set_up import run_commands
from linerate.lab.engine_config import ip6_links, router_cli
from linerate.model.scenario import Back, Box, Loaded, Mistake, Scalar, ScenarioUse, facts, filled
from linerate.model.suites import DUT_PORTS, Loadtest, select
from linerate.model.testbed import Testbed, with_options
from linerate.model.testbed import parse as parse_testbed
from linerate.traffic import offered_by

#: Value whose name sets the frame size of loadtests.
FRAME_BYTES = "frame_bytes"
SUITE = "standard"
_BACK: TypeAdapter[Any] = TypeAdapter(Back)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A scenario, the box, and the values that were asked for."""

    loaded: Loaded
    #: A key of the file's boxes.
    box: str
    #: By name, those that are not the default.
    values: Mapping[str, str]
    #: Testbed in which the box is set up; default: this host's.
    base: Testbed
    #: Whether the box's mistake is planted.
    planted: bool = False
    #: Rate of the profile, as of `--rate`, where that is not the file's.
    rate: str | None = None

    @property
    def spec(self) -> Box:
        """Set-up of the box; raises UserError."""
        boxes = self.loaded.scenario.boxes
        if self.box not in boxes:
            known = ", ".join(boxes)
            name = self.loaded.scenario.name
            raise UserError(f"{name}: no box '{self.box}'; expected one of {known}")
        return boxes[self.box]

    @property
    def mistake(self) -> Mistake | None:
        """The mistake that is planted; raises UserError where there is none to plant."""
        if not self.planted:
            return None
        if self.spec.mistake is None:
            raise UserError(
                f"{self.loaded.scenario.name}: boxes.{self.box} has no `mistake` to plant"
            )
        return self.spec.mistake

    @property
    def placeholders(self) -> dict[str, Scalar]:
        """Placeholders of the values; raises UserError."""
        try:
            return self.loaded.scenario.placeholders(self.values)
        except ValueError as error:
            raise UserError(str(error)) from error

    @property
    def use(self) -> ScenarioUse:
        """For the run."""
        found = self.placeholders
        return ScenarioUse(
            name=self.loaded.scenario.name,
            digest=self.loaded.digest,
            box=self.box,
            values={name: str(found[name]) for name in self.loaded.scenario.values},
        )


@dataclass(frozen=True, slots=True)
class Prepared:
    """A scenario that is ready to be run."""

    use: ScenarioUse
    testbed: Testbed
    loadtests: tuple[Loadtest, ...]
    back: Back


def missing(chosen: Chosen) -> list[Prerequisite]:
    """Programs, privilege and features of the kernel that the box needs and this host lacks."""
    spec = chosen.spec
    what = f"{chosen.loaded.scenario.name} on {chosen.box}"
    lacking = [
        one
        for program, package in spec.needs.items()
        for one in missing_program(program, package, what)
    ]
    lacking += rig.missing(_of_kind(chosen))
    if lacking or not spec.probe:
        return lacking
    return missing_privilege(what) or list(_probed(spec, what))


def _probed(spec: Box, what: str) -> Iterator[Prerequisite]:
    with namespaces.made("probe") as netns:
        for command in spec.probe:
            try:
                run_commands([command], netns, "probe")
            except SetupError as error:
                yield Prerequisite(f"{what} needs what this kernel has not", str(error))


@contextmanager
def prepared(chosen: Chosen) -> Iterator[Prepared]:
    """Make the files of a scenario, in a folder that goes on exit. Raises UserError, SetupError."""
    with ownership.temporary_folder("scenario") as name:
        work = Path(name)
        known = _facts(chosen, work)
        run_commands(filled(chosen.spec.prepare, known), "", "prepare", name)
        testbed = _testbed(chosen, known, work)
        yield Prepared(
            use=chosen.use,
            testbed=testbed,
            loadtests=_loadtests(chosen, testbed, known, work),
            back=back_of(chosen, known),
        )


def back_of(chosen: Chosen, known: Mapping[str, Scalar]) -> Back:
    """The cases of `back`, with placeholders filled in. Raises UserError."""
    values = chosen.use.values
    back = [
        case
        for case in chosen.spec.back or chosen.loaded.scenario.back
        if all(values.get(name) == str(wanted) for name, wanted in case.when.items())
    ]
    document = [case.model_dump(exclude_unset=True, exclude={"when"}) for case in back]
    try:
        found: Back = _BACK.validate_python(filled(document, known))
    except ValidationError as error:
        source = f"{chosen.loaded.path}: back"
        raise UserError("\n".join(mistake(source, one) for one in error.errors())) from error
    return found


def _facts(chosen: Chosen, work: Path) -> dict[str, Scalar]:
    ports = chosen.base.dut.box_ports
    names = (ports[0].name, ports[-1].name) if ports else (DUT_PORTS[0], DUT_PORTS[1])
    return facts(names, str(work), str(chosen.loaded.folder)) | chosen.placeholders


def _of_kind(chosen: Chosen) -> Testbed:
    """The testbed with the kind of box alone."""
    if chosen.base.dut.is_box:
        return chosen.base
    spec = chosen.spec
    try:
        return with_options(chosen.base, dut=spec.dut or chosen.box, wire=spec.wire or None)
    except TestbedError as error:
        raise UserError(f"{chosen.loaded.path}: boxes.{chosen.box}: {error.lines[0]}") from error


def _testbed(chosen: Chosen, known: Mapping[str, Scalar], work: Path) -> Testbed:
    """The testbed, set up as the file says."""
    spec, planted = chosen.spec, chosen.mistake or Mistake(about="none")
    document = _of_kind(chosen).model_dump(by_alias=True)
    commands = filled((*spec.setup, *planted.setup), known)
    settings = filled(spec.settings, known) | filled(planted.settings, known)
    document["dut"] |= settings
    if commands:
        document["dut"]["setup"] = [*document["dut"]["setup"], *commands]
    if spec.teardown:
        document["dut"]["teardown"] = [
            *filled(spec.teardown, known),
            *document["dut"]["teardown"],
        ]
    lines = "\n".join(filled((spec.cli, planted.cli), known)).strip()
    if document["dut"]["mode"] == "router":
        path = work / "router.vpp"
        write_whole(path, f"{_router(document['dut'].get('cli_file'))}{lines}\n")
        document["dut"]["cli_file"] = path
    elif lines:
        raise UserError(f"{chosen.loaded.path}: boxes.{chosen.box}.cli: expected of a router alone")
    try:
        return parse_testbed(document, f"{chosen.loaded.path}: boxes.{chosen.box}")
    except TestbedError as error:
        raise UserError("\n".join(error.lines)) from error


def _router(file: Path | None) -> str:
    """Our router's configuration, with addresses of IPv6 too; or the one that a testbed names."""
    text = router_cli(file)
    return text if file is not None else "\n".join([text.rstrip("\n"), *ip6_links(), ""])


def _loadtests(
    chosen: Chosen, testbed: Testbed, known: Mapping[str, Scalar], work: Path
) -> tuple[Loadtest, ...]:
    """The loadtests that are offered. Raises TrafficError, UserError."""
    scenario = chosen.loaded.scenario
    if scenario.loadtests:
        if chosen.rate is not None:
            raise UserError(
                f"--rate: {scenario.name} has loadtests, which have a rate of their own; expected "
                "a scenario with a profile"
            )
        named = _able(chosen, testbed)
        if FRAME_BYTES not in scenario.values:
            return named
        size = int(known[FRAME_BYTES])
        return tuple(replace(one, traffic=replace(one.traffic, frame_bytes=size)) for one in named)
    text = _profile(chosen, known, work)
    rate = chosen.rate or scenario.rate
    return (offered_by(text, testbed, rate, scenario.directions),)


def _able(chosen: Chosen, testbed: Testbed) -> tuple[Loadtest, ...]:
    """Loadtests that the box can forward; raises UserError where that is none of them."""
    named = select(SUITE, ",".join(chosen.loaded.scenario.loadtests))
    able = tuple(one for one in named if rig.can_run(testbed, one))
    if not able:
        raise UserError(
            f"{chosen.loaded.scenario.name} on {chosen.box}: {rig.why_not(testbed, named[0])}"
        )
    return able


def _profile(chosen: Chosen, known: Mapping[str, Scalar], work: Path) -> str:
    """The words of `--traffic`: a file of the profile that the scenario has, or a name."""
    scenario = chosen.loaded.scenario
    traffic = filled(scenario.traffic, known)
    if isinstance(traffic, dict):
        path = work / f"{scenario.name}.yaml"
        document = {"name": scenario.name, "description": scenario.title} | traffic
        write_whole(path, yaml.safe_dump(document))
        return str(path)
    beside = chosen.loaded.folder / str(traffic)
    return str(beside) if beside.is_file() else str(traffic)
