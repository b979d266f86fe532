"""The bench of a scenario: the box is checked first, and measured only if all is as expected."""

from linerate.base.errors import SetupError
from linerate.experiments.bench import Bench, Known, Observer
from linerate.experiments.plan import Plan, suite_plan
from linerate.experiments.scenarios.checking import SECONDS, check, refusal
from linerate.experiments.scenarios.preparing import SUITE, Prepared
from linerate.results.store import RunFolder


class ScenarioBench(Bench):
    """Checks each loadtest of a scenario, then measures as any bench."""

    def __init__(
        self,
        prepared: Prepared,
        plan: Plan,
        folder: RunFolder,
        observer: Observer,
        known: Known | None = None,
    ) -> None:
        super().__init__(plan, folder, observer, known)
        self._prepared = prepared
        self.run = self.run.model_copy(update={"scenario": prepared.use})

    def _measure_all(self) -> None:
        self._check_setup()
        super()._measure_all()

    def _check_setup(self) -> None:
        """Raise SetupError at the first loadtest whose frames are not as expected."""
        for loadtest in self._prepared.loadtests:
            self._observer.step(f"check of {loadtest.name}", SECONDS)
            rig = self._rigs[self._plan.testbed]
            checked = check(self._prepared, rig, loadtest, self._observer.progress)
            if why := refusal(checked, self._prepared):
                raise SetupError(why)


def scenario_plan(
    prepared: Prepared, duration_seconds: float, command: tuple[str, ...], repeats: int
) -> Plan:
    """Plan of a scenario's trials."""
    return suite_plan(
        prepared.testbed, SUITE, prepared.loadtests, duration_seconds, command, repeats
    )
