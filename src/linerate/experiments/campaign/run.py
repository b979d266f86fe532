"""A campaign, run: units go to workers as they are free, results to the dataset, until all is done.

Results are written here and nowhere else, each under its unit's key: whatever ends a scheduler, a
worker, a lab or this process costs the trials that were going on, and no result.
"""

import time
from collections.abc import Callable

from linerate.experiments.campaign.cluster import AGAIN_SECONDS, ClusterError, connected
from linerate.experiments.campaign.plan import Abilities
from linerate.experiments.campaign.prepared import Prepared
from linerate.experiments.campaign.record import Record, Watcher
from linerate.experiments.campaign.session import Session
from linerate.experiments.campaign.state import StateFolder
from linerate.experiments.campaign.units import in_order
from linerate.experiments.campaign.work_queue import Bench, WorkQueue
from linerate.model.campaign import CampaignState
from linerate.results.dataset.dataset import Dataset

#: Reasons that are given of units without a result.
REASONS_MAX = 3


def run_campaign(
    prepared: Prepared, interrupted: Callable[[], bool], watcher: Watcher
) -> CampaignState:
    """Run a campaign from where it stopped until all is done or nothing more can be, or a stop.

    Raises CampaignStateError, ClusterError.
    """
    campaign = prepared.campaign
    folder = StateFolder(campaign.dataset, campaign.name)
    with folder.held():
        folder.forget_stop()
        done = prepared.done()
        record = Record(folder, prepared, done, watcher)
        queue, abilities = _queue(prepared, done, record.state.seed)

        def stopping() -> bool:
            return interrupted() or folder.stop_asked()

        session = Session(prepared, queue, abilities, record, Dataset(campaign.dataset), stopping)
        try:
            if queue.open_units():
                _until_done(session, campaign.patience)
        except BaseException as error:
            record.end("failed", (str(error) or type(error).__name__).splitlines()[0])
            raise
        return _concluded(record, queue, stopping())


def _queue(prepared: Prepared, done: set[str], seed: int) -> tuple[WorkQueue, Abilities]:
    campaign = prepared.campaign
    left = [unit for unit in prepared.units if unit.key not in done]
    blocks = in_order(left, seed)
    abilities = Abilities(prepared, {})
    queue = WorkQueue(
        blocks,
        lambda block: abilities.able(block, blocks[block][0]),
        {one.name: Bench() for one in campaign.testbeds},
        campaign.tries,
        campaign.invalid_in_row,
    )
    return queue, abilities


def _until_done(session: Session, patience: float) -> None:
    """Work, and connect again where a scheduler was lost; raises ClusterError after long."""
    lost_s = time.monotonic()
    while not session.over():
        try:
            with connected(session.campaign) as client:
                session.work(client)
        except ClusterError:
            if session.worked():
                lost_s = time.monotonic()
            if time.monotonic() - lost_s > patience:
                raise
            time.sleep(AGAIN_SECONDS)


def _concluded(record: Record, queue: WorkQueue, stopped: bool) -> CampaignState:
    left = queue.open_units()
    if not left:
        return record.end("finished")
    count = f"{len(left):,} unit{'s' * (len(left) != 1)} without a result"
    if stopped:
        return record.end("stopped", count)
    aside = [
        f"{name} is set aside: {one.aside}" for name, one in queue.benches.items() if one.aside
    ]
    gone = [f"{name} has no worker" for name, one in queue.benches.items() if one.gone]
    reasons = dict.fromkeys(queue.reasons[one.key] for one in left if one.key in queue.reasons)
    why = "; ".join([*aside, *gone, *reasons][:REASONS_MAX]) or "no testbed can measure them"
    return record.end("failed", f"{count}: {why}")
