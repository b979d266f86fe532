"""A campaign before it is run: what is measured where, for how long, and what can't be."""

from linerate.base.published import Output, published


class TestbedPlan(Output):
    """One testbed's part."""

    name: str
    #: Its machine; empty where no worker owns it yet.
    host: str
    units: int
    trials: int
    seconds: float
    #: By `SCENARIO BOX`, why it can't measure that; `*`: anything.
    lacks: dict[str, str]


class Impossible(Output):
    """Units that no testbed can measure."""

    scenario: str
    box: str
    units: int
    reason: str


@published("campaign-plan", "`linerate campaign plan --json`")
class CampaignPlan(Output):
    """A campaign, before it is run."""

    name: str
    dataset: str
    versions: int
    settings: int
    scenarios: int
    units: int
    trials: int
    #: Units with a result already.
    done: int
    #: Versions that are built, once a machine; how long that takes is not known.
    builds: int
    #: Estimate for what is left; machines work at the same time.
    seconds: float
    testbeds: tuple[TestbedPlan, ...]
    impossible: tuple[Impossible, ...]
