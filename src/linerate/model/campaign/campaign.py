"""A campaign file: what is measured, of which versions, how often, and on which testbeds."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from linerate.base.frozen_model import StrictModel
from linerate.base.published import published

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,40}$")]
#: Most units of one campaign: beyond that a mistake in a list is more likely than a plan.
UNITS_MAX = 200_000
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def _seconds(value: object) -> object:
    """Seconds of a duration as `5s`, `100ms`, `2m`."""
    if not isinstance(value, str):
        return value
    number = value.strip().rstrip("msh")
    try:
        return float(number) * SECONDS[value.strip()[len(number) :] or "s"]
    except (ValueError, KeyError):
        raise ValueError(f"expected a duration as 5s, not '{value}'") from None


def _text(value: object) -> object:
    """YAML reads these as numbers, truth values and dates."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if isinstance(value, int | float | date) else value


def _texts(value: object) -> object:
    return [_text(one) for one in value] if isinstance(value, list | tuple) else [_text(value)]


def _named(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _relative(value: str) -> str:
    """A path without a step upwards."""
    if ".." in Path(value).parts:
        raise ValueError(f"expected a path without '..', not '{value}'")
    return value


Seconds = Annotated[float, BeforeValidator(_seconds)]
Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_texts), Field(min_length=1)]


class Version(StrictModel):
    """One version of the device under test."""

    name: Name
    #: Commit, tag or branch of the repository; none: what is installed is measured.
    commit: Annotated[
        str, BeforeValidator(_text), Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_./-]{0,99}$|^$")
    ] = ""
    #: Command that builds it, run by `sh` in a checkout of its own.
    build: str = ""
    #: The engine that it makes, below that checkout; without a commit: a path of the testbed's.
    engine: Annotated[str, AfterValidator(_relative)] = ""

    @model_validator(mode="after")
    def _built_of_a_commit(self) -> Self:
        if self.build and not self.commit:
            raise ValueError("build: expected a commit, too")
        if self.commit and not self.engine:
            raise ValueError("engine: required beside a commit: which file of it is measured")
        return self


class Setting(StrictModel):
    """Settings of the device, each as the option of `linerate bench`."""

    workers: int | None = Field(default=None, ge=1, le=16)
    rx_mode: str | None = None
    driver: str | None = None
    dut_driver: str | None = None
    card: str | None = None
    wire: str | None = None
    link: Annotated[str | None, BeforeValidator(_text)] = None

    def options(self) -> dict[str, Any]:
        """Those that are given, by the names that a testbed takes them by."""
        return self.model_dump(exclude_none=True)


class Use(StrictModel):
    """A scenario of the campaign, on one or several kinds of box."""

    #: Name in the library, or path of a scenario file.
    name: str = Field(min_length=1, max_length=200)
    #: Kinds of box.
    box: Texts = ("router",)
    #: Choices of the scenario's values; a value that is not named has all of its choices.
    values: dict[Name, Texts] = {}
    #: Testbeds that measure it; none named: all that can.
    testbeds: tuple[Name, ...] = ()


class CampaignTestbed(StrictModel):
    """One testbed: a machine, or a network namespace of one, with a worker that owns it."""

    name: Name
    #: Network namespace of its machine in which it measures (`ip netns add NAME`).
    namespace: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,40}$")] | None = None
    #: Testbed file on its machine.
    file: Path | None = None
    #: Link between tester and device, as of `--wire`.
    wire: str | None = None
    #: The same of `--card` and `--link`.
    card: str | None = None
    link: Annotated[str | None, BeforeValidator(_text)] = None

    def options(self) -> dict[str, Any]:
        """Options of the testbed that are given."""
        return self.model_dump(include={"wire", "card", "link"}, exclude_none=True)


class Tls(StrictModel):
    """Keys by which scheduler, workers and `run` know each other (`linerate campaign keys`)."""

    ca: Path
    cert: Path
    key: Path


def _of_folder(value: object) -> object:
    """The three files that `linerate campaign keys FOLDER` makes."""
    if isinstance(value, str):
        folder = Path(value)
        return {"ca": folder / "ca.pem", "cert": folder / "cert.pem", "key": folder / "key.pem"}
    return value


def _once(what: str, names: list[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{what}: '{twice[0]}' is there twice")


Versions = Annotated[
    tuple[Annotated[Version, BeforeValidator(_named)], ...], Field(min_length=1, max_length=10_000)
]
Uses = Annotated[tuple[Annotated[Use, BeforeValidator(_named)], ...], Field(min_length=1)]
Testbeds = Annotated[
    tuple[Annotated[CampaignTestbed, BeforeValidator(_named)], ...],
    Field(min_length=1, max_length=1000),
]


@published("campaign", "A campaign file in YAML, of users", form="written")
class Campaign(StrictModel):
    """Versions × settings × scenarios × loads × repeats, over testbeds."""

    name: Name
    #: Where results go: a folder, or a URL of fsspec (`s3://bucket/results`).
    dataset: str = Field(default="dataset", min_length=1)
    #: Where run folders are made, on each testbed's machine.
    runs: Path = Path("runs")
    #: Git repository of the commits, as each testbed's machine reaches it.
    repository: str = Field(default=".", pattern=r"^[^-].*$")
    versions: Versions = (Version(name="installed"),)
    settings: dict[Name, Setting] = Field(default={"default": Setting()}, min_length=1)
    scenarios: Uses
    #: Offered loads as of `--rate`, of scenarios with a profile; 100%: the scenario's own rate.
    loads: Texts = ("100%",)
    repeat: int = Field(default=3, ge=1, le=10_000)
    #: Duration of each trial.
    duration: Annotated[Seconds, Field(ge=0.05, le=3600)] = 5.0
    #: Where the machine gives no valid trial, keep what came of one, marked as suspect.
    accept_suspect: bool = False
    testbeds: Testbeds = (CampaignTestbed(name="here"),)
    #: Testbeds of one machine measure at the same time: each has CPUs of its own.
    together: bool = False
    #: Decides the order; the first `run` draws one where none is given.
    seed: int | None = Field(default=None, ge=0, lt=1 << 32)
    #: A word that makes new results of what was measured before, as a date.
    series: Annotated[str, BeforeValidator(_text), Field(max_length=100)] = ""
    #: Attempts at a result in one `run`.
    tries: int = Field(default=3, ge=1, le=100)
    #: Attempts in a row without a valid result after which a testbed is set aside.
    invalid_in_row: int = Field(default=3, ge=1, le=1000)
    #: Longest wait for a testbed without a worker, and for the scheduler.
    patience: Annotated[Seconds, Field(ge=1, le=86400)] = 60.0
    #: Dask's scheduler (`tls://HOST:PORT`) that testbeds elsewhere connect to; without one, all
    #: testbeds are on this machine.
    scheduler: Annotated[str, Field(pattern=r"^[a-z]+://[^\s/]{1,260}$")] | None = None
    tls: Annotated[Tls, BeforeValidator(_of_folder)] | None = None

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        _once("versions", [one.name for one in self.versions])
        _once("testbeds", [one.name for one in self.testbeds])
        known = [one.name for one in self.testbeds]
        for use in self.scenarios:
            if unknown := [name for name in use.testbeds if name not in known]:
                raise ValueError(
                    f"scenarios: {use.name}: no testbed '{unknown[0]}'; "
                    f"expected some of {', '.join(known)}"
                )
        return self

    @model_validator(mode="after")
    def _never_plain(self) -> Self:
        """Whoever reaches a scheduler runs programs as its user, on loopback too."""
        if self.scheduler is None:
            return self
        if not self.scheduler.startswith("tls://"):
            raise ValueError(
                f"scheduler: expected tls://HOST:PORT, not '{self.scheduler}': who reaches it "
                "runs programs as you; `linerate campaign keys` makes the keys"
            )
        if self.tls is None:
            raise ValueError("tls: required beside a scheduler; see `linerate campaign keys`")
        return self

    def testbed(self, name: str) -> CampaignTestbed:
        """The testbed of that name."""
        return next(one for one in self.testbeds if one.name == name)

    def beside(self, folder: Path) -> "Campaign":
        """The same with paths of this machine that are relative to the file's folder."""
        changed: dict[str, Any] = {}
        if "://" not in self.dataset:
            changed["dataset"] = str(folder / self.dataset)
        if self.tls is not None:
            changed["tls"] = Tls(
                ca=folder / self.tls.ca, cert=folder / self.tls.cert, key=folder / self.tls.key
            )
        if self.scheduler is None:
            changed["runs"] = folder / self.runs
            if "://" not in self.repository:
                changed["repository"] = str(folder / self.repository)
            changed["testbeds"] = tuple(
                one if one.file is None else one.model_copy(update={"file": folder / one.file})
                for one in self.testbeds
            )
        return self.model_copy(update=changed)
