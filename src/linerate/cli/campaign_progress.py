"""Progress of a campaign."""

from linerate.cli.bar import Bar
from linerate.model.campaign import CampaignState
from linerate.report.campaign_progress import progress_line
from linerate.ui.screen import one_line


class ProgressBar(Bar):
    """Shows a campaign's state on standard error."""

    def __init__(self) -> None:
        super().__init__()
        self._failures = -1

    def show(self, state: CampaignState) -> None:
        """Show a new state, and what failed since the last one."""
        self._say_failures(state)
        working = [f"{one.name}: {one.now}" for one in state.testbeds if one.now]
        text = f"{state.done} of {state.units} units; {'; '.join(working) or state.status}"
        self.step(state.done, state.units, one_line(text)[:60], progress_line(state))

    def _say_failures(self, state: CampaignState) -> None:
        """Say each failure once: those of earlier runs are not news."""
        count = sum(one.failed for one in state.testbeds)
        for one in state.failures[len(state.failures) - (count - max(self._failures, 0)) :]:
            self.warn(f"{one.testbed}: {one.text}: {one.reason}")
        self._failures = count
