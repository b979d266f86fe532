"""Signals that end a command wait for what must not be left half."""

import signal
import threading

import pytest

from linerate.base.signals import ENDING, held_back


class EndedError(Exception):
    """Raised by a handler of a command."""


@pytest.fixture
def raising():
    def end(number, _frame):
        raise EndedError(number)

    before = {number: signal.signal(number, end) for number in ENDING}
    yield end
    for number, handler in before.items():
        signal.signal(number, handler)


def held(*numbers):
    """Send these during the call; returns the state when they arrived."""
    done = []
    try:
        with held_back():
            for number in numbers:
                signal.raise_signal(number)
            done.append("whole")
    except EndedError as error:
        return done, error.args[0]
    return done, None


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_comes_when_it_is_done(raising, number):
    assert held(number) == (["whole"], number)
    assert signal.getsignal(number) is raising


def test_of_several_the_first_one_ends_it(raising):
    assert held(signal.SIGTERM, signal.SIGINT) == (["whole"], signal.SIGTERM)


def test_without_a_signal_nothing_is_left(raising):
    assert held() == (["whole"], None)
    assert all(signal.getsignal(number) is raising for number in ENDING)


def test_a_thread_may_do_it_too():
    done = []

    def start():
        with held_back():
            done.append("whole")

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert done == ["whole"]
