"""A scenario file: a box's set-up, what is sent, what must return, what is compared."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from linerate.base.frozen_model import StrictModel
from linerate.base.published import published
from linerate.model.scenario.back import Back
from linerate.model.scenario.facts import facts
from linerate.model.scenario.placeholders import Scalar, names_in
from linerate.model.suites import find as find_suite

#: YAML reads these words as truth values.
_SWITCH = {False: "off", True: "on"}
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
#: Box kinds are words of `linerate bench --dut`, or names of a file's own.
BoxName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9:_-]{0,39}$")]
ValueName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


def _word(value: object) -> object:
    return _SWITCH[value] if isinstance(value, bool) else value


ValueOf = Annotated[Scalar, BeforeValidator(_word)]


def _choices(given: object) -> object:
    """A list of values, or a mapping from each to further placeholders."""
    if isinstance(given, dict):
        return [{"value": value, "also": also or {}} for value, also in given.items()]
    if isinstance(given, list | tuple):
        return [one if isinstance(one, dict | Choice) else {"value": one} for one in given]
    return given


class Choice(StrictModel):
    """One value, and placeholders that go with it."""

    value: ValueOf
    also: dict[ValueName, ValueOf] = {}


Choices = Annotated[tuple[Choice, ...], BeforeValidator(_choices), Field(min_length=1)]


class Mistake(StrictModel):
    """A mistake to be planted: what is added to the set-up, so that the check must fail."""

    about: str = Field(min_length=1, max_length=200)
    #: Part of what the check must say.
    says: str = ""
    setup: tuple[str, ...] = ()
    #: Lines added to the router's.
    cli: str = ""
    #: Instead of the box's own.
    settings: dict[str, Any] = {}


class Box(StrictModel):
    """Set-up of one kind of box."""

    #: As `linerate bench --dut`; the box's key where it is not given.
    dut: str = ""
    #: As `--wire`; else the first one that the box works on.
    wire: str = ""
    #: Further keys of `dut` of a testbed file: `{workers: 2}`.
    settings: dict[str, Any] = {}
    #: Lines added to the configuration of our router, in VPP's CLI.
    cli: str = ""
    #: Shell commands before the box starts, in {work}: they make files of routes and rules.
    prepare: tuple[str, ...] = ()
    #: Shell commands in the box's network namespace, once it is there.
    setup: tuple[str, ...] = ()
    #: The same before it goes; what is in its namespace goes with that.
    teardown: tuple[str, ...] = ()
    #: Programs that the commands use, and their Debian packages: `{nft: nftables}`.
    needs: dict[str, str] = {}
    #: Shell commands that fail, in a namespace of their own, where the kernel lacks something.
    probe: tuple[str, ...] = ()
    #: Return of frames from this box, where that differs.
    back: Back | None = None
    #: Whether the box forwards all frames without the feature, too: else it has no pair.
    pair: bool = True
    mistake: Mistake | None = None


@published("scenario", "A scenario file in YAML, of users", form="written")
class Scenario(StrictModel):
    """A box's set-up, the traffic offered, the frames that must return, the values compared."""

    name: Name
    #: A line.
    title: str = Field(min_length=1, max_length=76)
    #: Paragraphs.
    about: str = ""
    #: A profile as of `--traffic`, or `{streams: […]}` as in a profile's file.
    traffic: str | dict[str, Any] | None = None
    #: Rate and directions of the profile, as of `--rate` and `--directions`.
    rate: str = "100%"
    directions: int | None = Field(default=None, ge=1, le=2)
    #: Loadtests of suite `standard` instead of a profile.
    loadtests: tuple[str, ...] = ()
    #: Values that are compared, the default first: `{frame_bytes: [64, 1518], rules: [0, 100]}`.
    values: dict[ValueName, Choices] = {}
    back: Back
    boxes: dict[BoxName, Box] = Field(min_length=1)
    #: The value whose first choice, 0 or off, is the side without the feature; its second is the
    #: default.
    pair: str = ""

    @model_validator(mode="after")
    def _offers(self) -> Self:
        if bool(self.loadtests) == (self.traffic is not None):
            raise ValueError("expected either traffic or loadtests")
        known = [test.name for test in find_suite("standard").loadtests]
        if unknown := [name for name in self.loadtests if name not in known]:
            raise ValueError(f"loadtests: no '{unknown[0]}'; expected some of {', '.join(known)}")
        return self

    @model_validator(mode="after")
    def _pairs(self) -> Self:
        if not self.pair:
            return self
        if self.pair not in self.values:
            raise ValueError(f"pair: expected a key of values, not '{self.pair}'")
        choices = self.values[self.pair]
        if str(choices[0].value) not in ("0", "off") or len(choices) < 2:
            raise ValueError(f"pair: expected 0 or off as the first of values.{self.pair}")
        return self

    @model_validator(mode="after")
    def _placeholders(self) -> Self:
        known = {*facts(), *self.defaults()}
        for name in self.values:
            if name in facts():
                raise ValueError(f"values.{name}: {{{name}}} is a placeholder of every scenario")
        for case in self.back:
            if unknown := [name for name in case.when if name not in self.values]:
                raise ValueError(f"back: when: no value '{unknown[0]}'")
        for where, part in self._texts():
            if unknown := [name for name in names_in(part) if name not in known]:
                raise ValueError(
                    f"{where}: no such placeholder {{{unknown[0]}}}; expected one of "
                    + ", ".join(f"{{{name}}}" for name in sorted(known))
                )
        return self

    def _texts(self) -> Iterator[tuple[str, Any]]:
        yield "traffic", self.traffic
        yield "back", [case.model_dump(exclude_unset=True) for case in self.back]
        for name, box in self.boxes.items():
            yield f"boxes.{name}", box.model_dump(exclude_unset=True)

    def defaults(self) -> dict[str, Scalar]:
        """Placeholders of the values, each value its first."""
        return self.placeholders({})

    def placeholders(self, chosen: Mapping[str, str]) -> dict[str, Scalar]:
        """Placeholders of the values that were chosen, and the defaults of all others.

        Raises ValueError with a line.
        """
        if unknown := [name for name in chosen if name not in self.values]:
            known = ", ".join(self.values) or "none"
            raise ValueError(f"{self.name}: no value '{unknown[0]}'; expected one of {known}")
        found: dict[str, Scalar] = {}
        for name, choices in self.values.items():
            # A feature is on unless it is asked for without it.
            default = choices[1 if name == self.pair else 0]
            choice = default if name not in chosen else _chosen(name, choices, chosen[name])
            found |= {name: choice.value} | choice.also
        return found


def _chosen(name: str, choices: tuple[Choice, ...], text: str) -> Choice:
    """The choice that a text names; any number where numbers are listed without more."""
    for choice in choices:
        if str(choice.value) == text:
            return choice
    plain = all(isinstance(one.value, int) and not one.also for one in choices)
    if plain and text.isdecimal() and len(text) < 10:
        return Choice(value=int(text))
    listed = ", ".join(str(choice.value) for choice in choices)
    raise ValueError(f"{name}: expected one of {listed}, not '{text}'")
