"""Abilities of testbeds, asked for before a campaign is run."""

import contextlib

from distributed import wait

from linerate.experiments.campaign.abilities import Ability, ability
from linerate.experiments.campaign.cluster import ClusterError, connected, resource
from linerate.experiments.campaign.prepared import Prepared

#: Longest wait for the answers of testbeds elsewhere.
ANSWER_SECONDS = 15.0


def look(prepared: Prepared) -> dict[str, Ability]:
    """Ask each testbed; one that has no worker, or is busy, is left out."""
    campaign, asked = prepared.campaign, prepared.asked()
    if campaign.scheduler is None:
        return {one.name: ability(one, asked) for one in campaign.testbeds}
    try:
        with connected(campaign) as client:
            futures = [
                client.submit(ability, one, asked, resources={resource(one.name): 1}, pure=False)
                for one in campaign.testbeds
            ]
            with contextlib.suppress(TimeoutError), client.as_current():
                wait(futures, timeout=ANSWER_SECONDS)
            answers = [one.result() for one in futures if one.status == "finished"]
    except ClusterError:
        return {}
    return {one.testbed: one for one in answers}
