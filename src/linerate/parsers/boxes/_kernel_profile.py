"""Profile of a kernel that forwards: `perf` samples within the load, by part of the kernel.

One command records for a while, waits until the load is over, and only then reads what it recorded:
looking symbols up costs more than taking samples. Its file is in a folder that it removes.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from linerate.parsers.boxes import Question
from linerate.parsers.kernel_parts import part_of

QUESTION = "profile"
#: The profile is followed by drop reasons.
DROPS = "drop reasons"
#: Drops in a tenth of a second that are too many to be traced for long.
MANY_DROPS = 2000
LATE = "the load was over before it was sampled"
FEW_SECONDS = 0.2
#: Samples a second of each CPU, and of all together: so long a profile takes to be read.
HERTZ_MAX = 499
HERTZ_MIN = 49
HERTZ_OF_ALL = 16_000
#: Fewer samples of a CPU in its softirq are no profile.
SAMPLES_MIN = 30
#: Longest that reading may take.
READ_SECONDS = 20

#: Whether it can be asked at all; its error is a line for the user.
ABLE = (
    "perf --version 2>/dev/null || { echo 'perf is not installed, it would say which part of the"
    " kernel takes the cycles: apt-get install linux-perf (Debian), linux-tools-generic (Ubuntu)';"
    " exit 3; }; "
    "perf stat -a -e cpu-clock -- true >/dev/null 2>&1 || { echo 'perf is not allowed, it would say"
    " which part of the kernel takes the cycles: log in as root, or sysctl"
    " kernel.perf_event_paranoid=-1 kernel.kptr_restrict=0'; exit 3; }"
)
#: Functions below which the kernel handles packets; in their callers' chain.
_SOFTIRQ = "^(__do_softirq|handle_softirqs|napi_threaded_poll.*)$"

#: Command line where tracefs is: it may be mounted for this command alone. Tracing costs the box
#: some hundred cycles a dropped packet, of many drops a second only a short time is traced.
_RECORD = """
now() {{ read -r u _ </proc/uptime; u=${{u%.*}}${{u#*.}}; }}
end=$(($4 + {latest}))
timeout {limit} perf record -q -a -g --kernel-callchains -F "$1" -e cycles -o "$2/cycles" \\
  -- sleep {seconds} >"$2/log" 2>&1 || {{ grep -v '^$' "$2/log" | tail -n 1; exit 3; }}
now; [ "$u" -le $end ] || {{ echo "{late}, which took $(((u - $4) / 100 + 1)) s"; exit 3; }}
[ -d /sys/kernel/tracing/events/skb ] || [ -z "$3" ] ||
  mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
[ -r /sys/kernel/tracing/events/skb/kfree_skb/id ] || exit 0
n=$(perf stat -a -x, -e skb:kfree_skb -- sleep 0.1 2>&1 |
  sed -n 's/^\\([0-9]*\\),.*kfree_skb.*/\\1/p')
w={drop_seconds}; [ "${{n:-0}}" -le {many} ] || w={few_seconds}
timeout {limit} perf record -q -a -c $((${{n:-0}} / {many} * 20 + 1)) -e skb:kfree_skb \\
  -o "$2/drops" -- sleep $w >"$2/log" 2>&1 && now && [ "$u" -le $end ] &&
  echo "{drops}: samples of $w s" >"$2/window"
exit 0
"""
_COMMAND = """
read -r u _ </proc/uptime; u=${{u%.*}}${{u#*.}}
{able}
n=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 8)
f=$(({of_all} / n)); [ "$f" -le {most} ] || f={most}; [ "$f" -ge {least} ] || f={least}
d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
trap 'exit 1' HUP INT TERM
cat >"$d/record" <<'END'
{record}
END
if [ ! -d /sys/kernel/tracing/events/skb ] && unshare -m true 2>/dev/null
then unshare -m sh "$d/record" "$f" "$d" mount "$u"
else sh "$d/record" "$f" "$d" '' "$u"
fi || exit 3
sleep {wait}
timeout {read} perf report -i "$d/cycles" --stdio -g none --no-children -n -F sample \\
  --sort cpu,parent,dso,sym -t '|' --parent '{softirq}' 2>/dev/null |
  grep -F '[k]' | grep -vF '[other]'
[ -f "$d/window" ] || exit 0
cat "$d/window"
timeout {read} perf script -i "$d/drops" -F event,period,trace 2>/dev/null | grep kfree_skb |
  sed 's/skbaddr=[^ ]*//; s/rx_sk=[^ ]*//; s/+0x[0-9a-f]*//; s,/0x[0-9a-f]*,,' |
  awk '{{ p = $1; $1 = ""; n[$0] += 1; c[$0] += p }} END {{ for (k in c) print c[k], n[k], k }}' |
  sort -rn | head -n 200
"""


def question(seconds: float, wait_seconds: float) -> Question:
    """Samples for some seconds, the second half of them of drops, read after a wait."""
    record = _RECORD.format(
        limit=round(seconds + 10),
        # In hundredths, as /proc/uptime has them.
        latest=round(100 * (seconds + wait_seconds)),
        late=LATE,
        seconds=f"{seconds / 2:.1f}",
        drop_seconds=f"{seconds / 2:.1f}",
        few_seconds=FEW_SECONDS,
        many=MANY_DROPS,
        drops=DROPS,
    )
    command = _COMMAND.format(
        able=ABLE,
        of_all=HERTZ_OF_ALL,
        most=HERTZ_MAX,
        least=HERTZ_MIN,
        record=record.strip(),
        wait=f"{wait_seconds:.1f}",
        read=READ_SECONDS,
        softirq=_SOFTIRQ,
    )
    return Question(QUESTION, command.strip())


_ROW = re.compile(r"\s*(\d{1,9})\s*\|\s*(\d{1,5})\s*\|([^|]*)\|([^|]*)\|\s*\[k\]\s*([\w.]{1,200})")
_DROP = re.compile(
    r"(?P<packets>\d{1,15}) (?P<samples>\d{1,9}) +\S*kfree_skb:.*?location="
    r"(?P<where>[\w.]{1,100})\S*(?:.*reason: (?P<reason>\w{1,60}))?"
)
#: Reasons that the kernel does not tell, and those of copies: the packet itself goes on.
_NAMELESS = "NOT_SPECIFIED"


@dataclass(frozen=True, slots=True)
class Part:
    """Samples of one CPU in one part of the kernel, and the line of most of them."""

    samples: int
    line: int
    text: str


def parts(text: str, drivers: frozenset[str] = frozenset()) -> dict[int, dict[str, Part]]:
    """By CPU and part of the kernel: samples taken while packets were handled."""
    found: dict[int, dict[str, Part]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(DROPS):
            break
        match = _ROW.match(line)
        if match is None or match[3].strip() in ("", "[other]"):
            continue
        part = part_of(match[5], match[4].strip().strip("[]"), drivers)
        of_cpu = found.setdefault(int(match[2]), {})
        samples = int(match[1])
        before = of_cpu.get(part)
        if before is None:
            of_cpu[part] = Part(samples, number, f"{part}: {match[5]} {samples:,} samples")
        else:
            of_cpu[part] = Part(before.samples + samples, before.line, before.text)
    return {
        cpu: rows
        for cpu, rows in found.items()
        if sum(one.samples for one in rows.values()) >= SAMPLES_MIN
    }


@dataclass(frozen=True, slots=True)
class Dropped:
    """Packets that the kernel dropped in the profile's time, as its samples say."""

    #: As the kernel names it: NETFILTER_DROP; empty where it has no name for it.
    reason: str
    #: Function that dropped them.
    where: str
    packets: int
    samples: int


def dropped(text: str) -> Iterator[Dropped]:
    """Drop reasons, most packets first."""
    _, _, drops = text.partition(f"\n{DROPS}: ")
    for line in drops.splitlines()[1:]:
        if match := _DROP.match(line):
            reason = "" if match["reason"] in (None, _NAMELESS) else match["reason"]
            yield Dropped(reason, match["where"], int(match["packets"]), int(match["samples"]))


def seconds_of(text: str) -> float | None:
    """Seconds that drops were sampled for; None where they were not."""
    match = re.search(rf"^{DROPS}: samples of (\d{{1,4}}(?:\.\d{{1,3}})?) s$", text, re.MULTILINE)
    return float(match[1]) or None if match else None


def drivers_of(known: Mapping[str, str]) -> frozenset[str]:
    """Names of the ports' drivers, as `ethtool -i` says."""
    return frozenset(
        match[1]
        for question, text in known.items()
        if question.startswith("ethtool -i ")
        and (match := re.search(r"^driver: ([\w-]{1,40})$", text, re.MULTILINE))
    )
