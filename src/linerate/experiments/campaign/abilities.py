"""Abilities of a testbed's machine, known before anything is measured."""

import os
import shutil

from linerate.base.errors import SetupError, TestbedError, UserError
from linerate.base.frozen_model import FrozenModel
from linerate.experiments.campaign.job import bed_of
from linerate.experiments.scenarios.preparing import Chosen, missing
from linerate.host.netns import namespaces
from linerate.host.netns.privilege import missing_privilege
from linerate.model.campaign import CampaignTestbed, Setting
from linerate.model.scenario import ScenarioError
from linerate.model.scenario import load as load_scenario


class Asked(FrozenModel):
    """A scenario on a box, as a campaign uses it."""

    #: Name in the library, or path on the worker's machine.
    path: str
    name: str
    digest: str
    box: str


class Ability(FrozenModel):
    """Abilities of one testbed."""

    testbed: str
    #: Its machine.
    host: str
    #: By `SCENARIO BOX`, why it can't measure that; `*`: why it can measure nothing.
    lacks: dict[str, str] = {}


def ability(testbed: CampaignTestbed, asked: tuple[Asked, ...]) -> Ability:
    """Look at this machine."""
    lacks = {f"{one.name} {one.box}": why for one in asked if (why := _lacking(one, testbed))}
    if why := _lacking_at_all(testbed):
        lacks = {"*": why}
    return Ability(testbed=testbed.name, host=os.uname().nodename, lacks=lacks)


def _lacking_at_all(testbed: CampaignTestbed) -> str:
    if shutil.which("setpriv") is None:
        return "no program setpriv: apt-get install util-linux"
    space = testbed.namespace
    if space is None:
        return ""
    if not namespaces.exists(space):
        return f"no network namespace {space}: ip netns add {space}"
    missing = missing_privilege(f"namespace {space}")
    return str(missing[0]) if missing else ""


def _lacking(asked: Asked, testbed: CampaignTestbed) -> str:
    try:
        loaded = load_scenario(asked.path)
    except ScenarioError as error:
        return error.lines[0]
    if loaded.digest != asked.digest:
        return "its scenario file is another one than that of `run`"
    try:
        lacking = missing(Chosen(loaded, asked.box, {}, bed_of(testbed, Setting())))
    except TestbedError as error:
        return error.lines[0]
    except (UserError, SetupError) as error:
        return str(error).splitlines()[0]
    return str(lacking[0]) if lacking else ""
