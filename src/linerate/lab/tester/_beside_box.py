"""A tester beside a box that is asked in a thread: who drives the tester waits for no answer."""

import threading
import time
from collections.abc import Callable

from linerate.base.errors import SetupError
from linerate.lab.dut import AskedAtLoad, Running
from linerate.lab.tester import Tester
from linerate.lab.tester._passed_on import PassedOn
from linerate.lab.tester._with_dut import joined
from linerate.model.ledger import PacketLedger
from linerate.model.measurement import Reading

#: Answers that are no older are those before a trial.
FRESH_SECONDS = 0.5
_NOTHING = Reading(ledger=PacketLedger(), workers=())


class BesideBox(PassedOn):
    """The tester, whose readings have the box's counters of before and after a trial."""

    def __init__(self, tester: Tester, box: Running) -> None:
        super().__init__(tester)
        self._box = box
        self._thread: threading.Thread | None = None
        #: Why it did not answer last.
        self.problem = ""
        self._before: Reading | None = None
        self._before_at = float("-inf")
        self._after: Reading | None = None
        self._is_asked_after = False
        #: The box knows of a load, and was not asked since.
        self._is_loaded = False
        #: The part of readings that is the box's.
        self._its = _NOTHING
        #: The tester's reading after the last packet; it is read again where that is None.
        self._held: Reading | None = None

    def readings(self) -> Reading:
        """All counters of the tester, and the box's as they were answered."""
        mine = self._tester.readings() if self._held is None else self._held
        return joined(mine, self._its, foreign=True)

    def ask_ahead(self) -> None:
        """Begin to ask what a trial is to begin with."""
        self._ask(self._ask_before)

    def before_trial(self, seconds: float) -> bool:
        """Have its counters before a trial, within that time; returns whether there are any."""
        if time.monotonic() - self._before_at > FRESH_SECONDS:
            self._ask(self._ask_before)
            self._wait(seconds)
        # An answer of before is better than nothing.
        before, self._before, self._before_at = self._before, None, float("-inf")
        self._its = before or _NOTHING
        self._held, self._after, self._is_asked_after = None, None, False
        return before is not None

    def trial_begins(self) -> None:
        """Nothing is in its readings from now on but what it had before."""
        if self._its is _NOTHING:
            return
        if isinstance(self._box, AskedAtLoad):
            # Its length is not known ahead: there is no window within the load.
            self._box.load_begins(0)
            self._is_loaded = True
        self._its = self._its.model_copy(update={"box": None})

    def after_trial(self, seconds: float = 0.0) -> bool:
        """Keep the tester's counters, and ask the box; returns whether all is answered."""
        if self._held is None:
            self._held = self._tester.readings()
        if self._its is _NOTHING:
            return True
        if not self._is_asked_after:
            self._wait(seconds)
            if self._is_being_asked:
                return False
            self._is_asked_after = True
            self._ask(self._ask_after)
        self._wait(seconds)
        if self._is_being_asked:
            return False
        self._its = self._after or self._its
        return True

    @property
    def _is_being_asked(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _wait(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def _ask(self, act: Callable[[], None]) -> None:
        """Do it in a thread, unless it is being asked."""
        if self._is_being_asked:
            return

        def asked() -> None:
            try:
                act()
                self.problem = ""
            except (SetupError, OSError) as error:
                self.problem = str(error)

        self._thread = threading.Thread(target=asked, name="box beside", daemon=True)
        self._thread.start()

    def _ask_before(self) -> None:
        if self._is_loaded:
            # It still waits for the question after a trial that did not wait for it.
            self._ask_after()
        self._before = self._box.readings(0)
        self._before_at = time.monotonic()

    def _ask_after(self) -> None:
        self._is_loaded = False
        self._after = self._box.readings(0)
