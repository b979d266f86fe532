"""Evidence to verdict: all rules are asked, the most precise that speaks names the limit."""

from linerate.analysis.explain.ceilings import ceilings
from linerate.analysis.explain.model import Ceiling, Confidence, Finding, Limit, Verdict
from linerate.analysis.explain.next_outputs import next_outputs
from linerate.analysis.explain.reading import (
    all_is_explained,
    busiest,
    capacity_losses,
    configured_losses,
    few_left_out,
    forwarders,
    paused_ports,
    pushed_back,
    received_pps,
    sender,
)
from linerate.analysis.explain.rules import Rule, Stage, precision, rules
from linerate.analysis.explain.words import symbols_text
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Evidence, Loss, Quote

#: A ceiling is reached when the rate is within this of it.
REACHED_WITHIN = 0.03
#: Remarks of sources that are repeated in a sentence, and lines of a profile.
REMARKS = 3
#: Places that say where and not why: words of their names, and what is open.
_OPEN = (
    (
        ": tc ",
        "the queue before the port had no room; why is open: the rate of its link, its driver, or "
        "senders that wait for each other",
    ),
    (
        ": rx errs",
        "a driver counts missed and damaged packets there together: `sysctl dev.IF.N | grep -E "
        "'miss|crc'` says which",
    ),
    (
        ": tx-",
        "the port's queue had no room; why is open: the rate of its link, pause frames, or bursts",
    ),
    (
        "socket",
        "a socket's buffer had no room: the program that reads it was late, or was not to",
    ),
    ("conntrack", "the kernel's table of connections had no room, or two packets made one at once"),
)
#: Ceilings that hold whatever the workers do; those of workers and rings move with the load.
HARD: frozenset[Limit] = frozenset(("line", "tester", "pcie", "card-pps"))

Found = tuple[Rule, Finding]


def explain(evidence: Evidence) -> Verdict:
    """Name what limits, from the evidence alone."""
    evidence = few_left_out(evidence)
    computed = ceilings(evidence)
    found = _findings(evidence)
    if not found:
        return _unknown(evidence, computed)
    first, finding = found[0]
    return Verdict(
        limit=finding.limit,
        also=_also(evidence, found, computed),
        confidence=_confidence(evidence, finding),
        sentence=finding.sentence,
        evidence=_unique((*finding.evidence, *paused_ports(evidence))),
        ceilings=computed,
        try_=finding.try_,
        send_next=next_outputs(evidence),
        reference=first.reference,
        configured=_configured(evidence),
    )


def _confidence(evidence: Evidence, finding: Finding) -> Confidence:
    """A suspect trial supports at most medium confidence."""
    doubted = evidence.suspect and not evidence.invalid and finding.confidence == "high"
    return "medium" if doubted else finding.confidence


def _findings(evidence: Evidence) -> list[Found]:
    """Ask every rule; the best one first."""
    found = [(rule, finding) for rule in rules() if (finding := rule.judge(evidence)) is not None]
    if any(rule.stage <= Stage.WHOLE for rule, _ in found):
        # Whatever else the counters show, it took nothing from the rate.
        return [one for one in found if one[0].stage == found[0][0].stage][:1]
    return sorted(found, key=lambda one: (one[0].stage, -precision(one[0]), -one[1].explains))


def _also(
    evidence: Evidence, found: list[Found], computed: tuple[Ceiling, ...]
) -> tuple[Limit, ...]:
    """Limits that hold as well: other findings, and hard ceilings within the error."""
    limit = found[0][1].limit
    if limit in ("invalid", "none"):
        return ()
    others = [finding.limit for _, finding in found[1:]]
    rate = received_pps(evidence)
    if rate:
        others += [
            ceiling.limit
            for ceiling in computed
            if ceiling.limit in HARD - _denied(evidence) and _reached(rate / 1e6, ceiling.mpps)
        ]
    return tuple(dict.fromkeys(other for other in others if other != limit))


def _denied(evidence: Evidence) -> frozenset[Limit]:
    """Limits that say that all came through, where packets are missing without a reason."""
    return frozenset() if all_is_explained(evidence) else frozenset(("line", "tester"))


def _reached(mpps: float, ceiling_mpps: float) -> bool:
    return abs(mpps - ceiling_mpps) <= REACHED_WITHIN * ceiling_mpps


def _configured(evidence: Evidence) -> dict[str, int]:
    """Packets by place, for losses that are configured, not capacity."""
    packets: dict[str, int] = {}
    for loss in configured_losses(evidence):
        packets[loss.place] = packets.get(loss.place, 0) + loss.packets
    return packets


def _unique(quotes: tuple[Quote, ...]) -> tuple[Quote, ...]:
    return tuple(dict.fromkeys(quotes))


def _unknown(evidence: Evidence, computed: tuple[Ceiling, ...]) -> Verdict:
    """Say what is missing rather than guess."""
    losses = capacity_losses(evidence)
    return Verdict(
        limit="unknown",
        confidence="low",
        sentence=_what_is_seen(evidence, losses),
        evidence=_unique(
            (
                *(loss.quote for loss in losses),
                *(one.quote for one in evidence.traced_drops[:REMARKS]),
                *(one.quote for one in evidence.remarks[:REMARKS]),
                *(one.quote for one in evidence.symbols[:REMARKS]),
            )
        ),
        ceilings=computed,
        try_=() if evidence.outputs else tuple(_measure_next(evidence)),
        send_next=next_outputs(evidence),
        configured=_configured(evidence),
    )


def _what_is_seen(evidence: Evidence, losses: list[Loss]) -> str:
    if losses:
        places = ", ".join(map(_place, losses[:3]))
        return f"lost: {places}; {_open(losses[0])}{_besides(evidence)}"
    if evidence.conditions is not None and pushed_back(evidence):
        taken = format_pps(evidence.conditions.offered_pps)
        return f"{_took(evidence)} {taken}{_busy(evidence)}; no counter says why no more"
    return f"no counter says what limits{_besides(evidence)}"


def _place(loss: Loss) -> str:
    """`28,660 at eth0: tc queue mq drops (1.2 % of what came there)`."""
    if not loss.offered:
        return f"{loss.packets:,} at {loss.place}"
    share = 100 * loss.packets / loss.offered
    return f"{loss.packets:,} at {loss.place} ({share:.3g} % of what came there)"


def _open(loss: Loss) -> str:
    """Reasons that a place leaves open."""
    for words, reasons in _OPEN:
        if words in loss.place:
            return reasons
    return "no rule explains them"


def _besides(evidence: Evidence) -> str:
    """Where cycles go, which limits nothing by itself, and what sources remark."""
    few = [f"{one.packets:,} packets were lost at {one.place}, too few" for one in evidence.noted]
    remarks = [one.text for one in evidence.remarks]
    traced = [
        f"{one.packets:,} of {one.traced:,} traced drops: {one.place}"
        for one in evidence.traced_drops
    ]
    texts = dict.fromkeys((*few[:REMARKS], *traced[:REMARKS], *remarks[:REMARKS]))
    return symbols_text(evidence.symbols) + "".join(f"; {text}" for text in texts)


def _took(evidence: Evidence) -> str:
    return "wire and device took" if forwarders(evidence) else "the wire took"


def _busy(evidence: Evidence) -> str:
    """Load of both sides in words."""
    text = [
        f"{worker.name} had {worker.idle_percent:.0f} % of its time to spare"
        for worker in (sender(evidence), busiest(evidence))
        if worker is not None and worker.idle_percent is not None
    ]
    return f" while {' and '.join(text)}" if text else ""


def _measure_next(evidence: Evidence) -> list[str]:
    """Further measurements that would narrow it down."""
    wanted = []
    if not forwarders(evidence):
        wanted.append("give `show runtime` of the same trial: who works how much on a packet")
    if not evidence.losses:
        wanted.append("give `show errors` and the ports' counters: where packets are lost")
    if evidence.conditions is None:
        wanted.append("give the tester's statistics: offered and received packets")
    if not evidence.pcie:
        wanted.append("give `dmesg | grep PCIe` or `lspci -vv`: what the card's slot carries")
    return wanted or ["repeat the trial at other loads, with one direction and with one flow"]
