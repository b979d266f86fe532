"""Time for which a program's threads were ready and had no CPU, by the kernel's scheduler.

Threads wait while another has their CPU, and while the quota of their control group is used up: the
scheduler counts the first (sched-stats.rst), the group the second (cgroup-v2.rst, `cpu.stat`).
"""

from typing import NamedTuple

#: After `p=PID;`: a line of each thread, then what its group and those above were throttled.
SHELL = (
    "cat /proc/uptime; for t in /proc/$p/task/*; do "
    'read -r n < $t/comm && read -r r < $t/schedstat && echo "$n $r"; done; '
    "while IFS=: read -r _ k c; do case ,$k, in ,,) r=/sys/fs/cgroup;; "
    "*,cpu,*) r=/sys/fs/cgroup/$k;; *) continue;; esac; "
    'while :; do [ -f "$r$c/cpu.stat" ] && grep throttled_ "$r$c/cpu.stat"; '
    '[ -n "${c%/}" ] || break; c=${c%/*}; done; done < /proc/$p/cgroup; true'
)
#: Units of a group's `throttled_…`, in seconds.
_THROTTLED = {"throttled_usec": 1e-6, "throttled_time": 1e-9}
#: A quota takes time from threads that want all of it: they run, and these shares of a window are
#: accounted for. Others sleep then.
POLLS_MIN, POLLS = 0.02, 0.8
#: Fields of a thread behind its name: time that it ran, that it waited, and its turns.
_FIELDS = 3


class Waited(NamedTuple):
    """Shares of a window, in per cent."""

    ran_percent: float
    #: Ready, and without a CPU.
    percent: float
    #: Share that the quota of its control group took of that, at most.
    quota_percent: float

    @property
    def text(self) -> str:
        """In words."""
        quota = f" ({self.quota_percent:.0f} % its quota)" if self.quota_percent >= 1.0 else ""
        return f"waited for its CPU for {self.percent:.0f} % of the time{quota}"


class _Read(NamedTuple):
    #: Since the host started; None where the answer lacks it.
    seconds: float | None
    #: By thread: seconds that it ran, and waited.
    threads: dict[str, tuple[float, float]]
    throttled_seconds: float


def waited(before: str, after: str, seconds: float) -> dict[str, Waited]:
    """By thread of both answers; `seconds` lie between them where they do not say it."""
    early, late = _read(before), _read(after)
    if early.seconds is not None and late.seconds is not None:
        seconds = late.seconds - early.seconds
    if seconds <= 0:
        return {}
    throttled = max(0.0, late.throttled_seconds - early.throttled_seconds)
    found = {}
    for name in early.threads.keys() & late.threads.keys():
        ran, ready = (
            max(0.0, one - was)
            for one, was in zip(late.threads[name], early.threads[name], strict=True)
        )
        polls = ran + ready >= POLLS_MIN * seconds and ran + ready + throttled >= POLLS * seconds
        quota = throttled if polls else 0.0
        gone = min(ready + quota, max(0.0, seconds - ran))
        shares = (ran, gone, min(quota, gone))
        found[name] = Waited(*(min(100.0, 100.0 * share / seconds) for share in shares))
    return found


def _read(text: str) -> _Read:
    seconds: float | None = None
    threads: dict[str, tuple[float, float]] = {}
    throttled = 0.0
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] in _THROTTLED and words[1].isdecimal():
            # A group and those above it: the one whose quota is used up first.
            throttled = max(throttled, int(words[1][:20]) * _THROTTLED[words[0]])
        elif len(words) == 2 and seconds is None:
            seconds = _number(words[0])
        elif len(words) > _FIELDS and all(word.isdecimal() for word in words[-_FIELDS:]):
            name = " ".join(words[:-_FIELDS])
            ran, ready = (int(word[:20]) / 1e9 for word in words[-_FIELDS:-1])
            threads[name] = (ran, ready)
    return _Read(seconds, threads, throttled)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
