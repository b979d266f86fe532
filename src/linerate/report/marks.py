"""Marks beside doubtful figures: the same in every report."""

from collections.abc import Iterable, Mapping

from linerate.model.run_records import FrameSize, Goal, Search
from linerate.results.store import Result, Run

SUSPECT = "*"
PROVISIONAL = "‡"
#: Some of what was lost is left out of the verdict, or of the loss.
LEFT_OUT = "†"
NONE = "–"
COLUMN = "left out"
#: Footnotes; titles of the lines that follow.
SAID = {
    PROVISIONAL: "‡ Provisional: no trial was valid, and one is shown as asked",
    SUSPECT: "* Suspect: the machine was not the same throughout",
    LEFT_OUT: "† Lost while a worker was descheduled, or the tester late: not the device's",
}


def marks(result: Result) -> str:
    """Marks behind a test's name."""
    if not result.valid:
        return ""
    return (
        PROVISIONAL * result.provisional
        + SUSPECT * bool(result.suspect)
        + LEFT_OUT * bool(result.left_out)
    )


def doubts(result: Result) -> tuple[str, ...]:
    """Doubts about a test in a few words each, for headings."""
    if not result.valid:
        return ("invalid",)
    found = (
        (result.provisional, f"{PROVISIONAL} provisional"),
        (bool(result.suspect), f"{SUSPECT} suspect"),
        (bool(result.left_out), f"{LEFT_OUT} {result.left_out:,} lost to the host left out"),
    )
    return tuple(words for holds, words in found if holds)


def doubts_of_all(results: Iterable[Result]) -> tuple[str, ...]:
    """The same of several tests that are shown together."""
    found = list(results)
    suspect = [one.test for one in found if one.valid and one.suspect]
    provisional = [one.test for one in found if one.valid and one.provisional]
    names = ((SUSPECT, "suspect", suspect), (PROVISIONAL, "provisional", provisional))
    return tuple(f"{mark} {word}: {', '.join(tests)}" for mark, word, tests in names if tests)


def any_left_out(results: Iterable[Result]) -> bool:
    """Whether the column is needed."""
    return any(result.valid and result.left_out for result in results)


def left_out(result: Result) -> str:
    """Packets lost that the verdict leaves out."""
    return f"{result.left_out:,}" if result.valid else NONE


def footnotes(results: Iterable[Result]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Each mark that stands anywhere: its title, and by test what it is for."""
    valid = [result for result in results if result.valid]
    doubts = [(result.test, doubt) for result in valid for doubt in result.suspect]
    lost = [(result.test, _how_many(result)) for result in valid if result.left_out]
    accepted = [
        (result.test, f"invalid in {result.attempt} attempts, the machine disturbed each")
        for result in valid
        if result.provisional
    ]
    pairs = ((SAID[PROVISIONAL], accepted), (SAID[SUSPECT], doubts), (SAID[LEFT_OUT], lost))
    return [(title, lines) for title, lines in pairs if lines]


def _how_many(result: Result) -> str:
    """`78,187 of 79,038 lost, in 1.7 s of which 1.0 s were undisturbed`."""
    lost = f"{result.left_out:,} of {result.packets.sent - result.came_back:,} lost"
    clean = result.clean_seconds
    if clean is None:
        return lost
    return f"{lost}, in {result.duration_seconds:.1f} s of which {clean:.1f} s were undisturbed"


def of_goal(search: Search, goal: Goal) -> str:
    """Packets lost at a goal's lower load that do not count."""
    packets = search.lost_by_host.get(goal.lower_trial, 0)
    return f"{packets:,} {LEFT_OUT}" if packets else "0"


def repeated(run: Run, goal: Goal) -> str:
    """Trials at a goal's lower load that do not count; nothing without any."""
    shown = next((one for one in run.results if one.trial == goal.lower_trial), None)
    same = [one for one in run.results if shown is not None and one.test == shown.test]
    return f"{len(same) - 1} of {len(same)} trials at its lower load" if len(same) > 1 else ""


def of_frame_size(run: Run, one: FrameSize) -> dict[str, int]:
    """By trial that a frame size's figures rest on: packets lost that count as the host's."""
    lost: Mapping[str, int] = {
        trial: packets
        for search in run.searches
        if search.loadtest == one.loadtest
        for trial, packets in search.lost_by_host.items()
    }
    points = (point.trial for point in one.loss_curve)
    trials = dict.fromkeys((one.throughput_trial, *points, *one.burst_trials))
    return {trial: lost[trial] for trial in trials if trial in lost}
