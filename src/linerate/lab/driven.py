"""A tester whose streams others start and stop."""

from linerate.lab.tester import Tester
from linerate.lab.tester._passed_on import PassedOn
from linerate.model.measurement import Progress


class Driven(PassedOn):
    """A tester whose profiles others start: its caller sets how far the trial is."""

    def __init__(self, tester: Tester) -> None:
        super().__init__(tester)
        self.state = Progress(trial=0, state="idle", elapsed_us=0)

    def start(self, duration_us: int, scale_ppm: int, clean_us: int = 0) -> None:
        """Nothing: it is started otherwise."""

    def progress(self) -> Progress:
        """Progress as its caller has set it."""
        return self.state
