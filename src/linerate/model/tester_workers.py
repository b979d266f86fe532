"""Workers that a tester has, and those that its line needs."""

from pydantic import Field

from linerate.base.frozen_model import FrozenModel


class TesterWorkers(FrozenModel):
    """Workers of the tester for the frames of a run."""

    __test__ = False  # pytest would take it for a test class

    workers: int = Field(ge=1)
    #: Those that would send and receive the whole line, as far as the ports can use them.
    needed: int = Field(ge=1)

    @property
    def too_few(self) -> bool:
        """Whether they can't be expected to fill the line."""
        return self.workers < self.needed

    @property
    def text(self) -> str:
        """`3 tester workers`, `too few tester workers: 1 of 4 needed`; nothing of a single one."""
        if self.too_few:
            return f"too few tester workers: {self.workers} of {self.needed} needed"
        return f"{self.workers} tester workers" if self.workers > 1 else ""
