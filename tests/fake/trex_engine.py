"""An engine that only counts: what it would send by its streams' rates, all of it received."""

import time

from linerate.model.captured_frame import CapturedFrame
from linerate.trex_server.traffic_engine import (
    PortCounters,
    PortInfo,
    StreamCounters,
    StreamLatency,
    TrafficEngineError,
    Utilization,
)

LINK_BPS = 10_000_000_000
#: HdrHistogram's bucket of 20 µs and of 33 µs, in ns.
BUCKETS = ((10000 + 2048, 90), (11000 + 2048, 10))


class _Profile:
    def __init__(self):
        self.streams = {}
        self.state = "idle"
        self.scale = 1.0
        self.duration_us = None
        self.elapsed = 0.0
        self.at = 0.0


class FakeCapture:
    """Frames that were injected at a port or its other end; the filter is kept, and not run."""

    def __init__(self, engine, order):
        self.engine, self.order = engine, order
        self.frames, self.matched, self.running = [], 0, True

    def add(self, port, frame):
        is_sent = port == self.order.port
        if self.running and self.order.direction in ("both", "tx" if is_sent else "rx"):
            self.matched += 1
            data = frame[: self.order.snap_bytes]
            self.frames.append(CapturedFrame(time.time_ns(), is_sent, len(frame), data))

    def read(self):
        if self not in self.engine.captures:
            raise TrafficEngineError("there is no such capture")
        taken, self.frames = self.frames[:3], self.frames[3:]
        return taken

    def stop(self):
        self.running = False

    def remove(self):
        if self in self.engine.captures:
            self.engine.captures.remove(self)


class FakeEngine:
    """Two joined ports: what one sends, the other receives."""

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._seen = clock()
        self._profiles = {}
        self.sent = {}
        self._stream_bytes = {}
        self.asked = []
        self.refuses = None
        self.captures = []

    def ports(self):
        return [
            PortInfo(f"t{i}", "card", f"02:00:00:00:01:0{i}", LINK_BPS,
                     next_mac=f"02:00:00:00:00:0{i}")
            for i in (0, 1)
        ]  # fmt: skip

    def utilization(self):
        return Utilization(cpu_percent=12.5)

    def load(self, port, profile, streams):
        self._note("load", port, profile)
        made = self._profiles.setdefault((port, profile), _Profile())
        for stream in streams:
            made.streams[stream["name"]] = [stream, 1.0]
            self.sent[stream["name"]] = 0.0
            size = len(stream["template"]) // 2 + 4
            self._stream_bytes[stream["name"]] = size

    def remove(self, port, profile):
        self._note("remove", port, profile)
        del self._profiles[port, profile]

    def start(self, port, profile, scale, duration_us=None, at_us=None):
        self._note("start", port, profile, scale, duration_us)
        self._advance()
        made = self._profiles[port, profile]
        made.state, made.scale, made.duration_us, made.elapsed = "running", scale, duration_us, 0.0

    def stop(self, port, profile):
        self._set(port, profile, "done", "stop")

    def pause(self, port, profile):
        self._set(port, profile, "paused", "pause")

    def resume(self, port, profile):
        self._set(port, profile, "running", "resume")

    def _set(self, port, profile, state, word):
        self._note(word, port, profile)
        self._advance()
        self._profiles[port, profile].state = state

    def set_rate(self, port, profile, scale):
        self._note("rate", port, profile, scale)
        self._advance()
        self._profiles[port, profile].scale = scale

    def set_stream_rate(self, port, profile, stream, scale):
        self._note("stream-rate", port, profile, stream, scale)
        self._advance()
        self._profiles[port, profile].streams[stream][1] = scale

    def profile_states(self):
        self._advance()
        return {key: one.state for key, one in self._profiles.items()}

    def counters(self):
        self._advance()
        made = {"t0": [0, 0], "t1": [0, 0]}
        for (port, _), profile in self._profiles.items():
            for name in profile.streams:
                made[port][0] += int(self.sent[name])
                made[port][1] += int(self.sent[name]) * (self._stream_bytes[name] - 4)
        other = {"t0": "t1", "t1": "t0"}
        return {
            port: PortCounters(
                tx_packets=made[port][0],
                tx_bytes=made[port][1],
                rx_packets=made[other[port]][0],
                rx_bytes=made[other[port]][1],
                extended={"rx_missed": 0, "tx_full": 0},
            )
            for port in made
        }

    def streams(self):
        self._advance()
        other = {"t0": "t1", "t1": "t0"}
        return {
            name: StreamCounters(
                sent=int(self.sent[name]),
                received={
                    other[port]: (
                        int(self.sent[name]),
                        int(self.sent[name]) * self._stream_bytes[name],
                    )
                },
            )
            for (port, _), profile in self._profiles.items()
            for name in profile.streams
        }

    def latencies(self, names):
        return {
            name: StreamLatency(
                count=100, min_ns=20_000, max_ns=33_000, sum_ns=2_133_000, jitter_sum_ns=99_000,
                jitter_count=99, buckets=BUCKETS,
            )
            for name in names
        }  # fmt: skip

    def inject(self, port, frames):
        self._note("inject", port, *frames)
        for frame in frames:
            for capture in self.captures:
                capture.add(port, frame)

    def capture(self, order):
        self._note("capture", order)
        self.captures.append(FakeCapture(self, order))
        return self.captures[-1]

    def set_addresses(self, port, addresses, vlan):
        self._note("addresses", port, *addresses, *vlan)

    def _note(self, *words):
        if self.refuses is not None:
            raise TrafficEngineError(self.refuses)
        self.asked.append(words)

    def _advance(self):
        now = self._clock()
        seconds, self._seen = now - self._seen, now
        for profile in self._profiles.values():
            if profile.state != "running":
                continue
            left = seconds
            if profile.duration_us is not None:
                left = min(seconds, max(0.0, profile.duration_us / 1e6 - profile.elapsed))
            profile.elapsed += left
            for name, (stream, scale) in profile.streams.items():
                own = 1.0 if stream.get("unscaled") else profile.scale
                self._send(name, stream, left * scale * own)
            if left < seconds or self._is_spent(profile):
                profile.state = "done"

    def _send(self, name, stream, scaled_seconds):
        ((kind, value),) = stream["rate"].items()
        size = self._stream_bytes[name]
        bits = {"pps": 1, "l2_bps": size * 8, "l1_bps": (size + 20) * 8}
        pps = value / 100 * LINK_BPS / bits["l1_bps"] if kind == "percent" else value / bits[kind]
        self.sent[name] += pps * scaled_seconds
        bursts = stream.get("bursts")
        if bursts and bursts["count"]:
            self.sent[name] = min(self.sent[name], bursts["frames"] * bursts["count"])

    def _is_spent(self, profile):
        """Whether all its streams are bursts that have been sent."""
        return all(
            stream.get("bursts")
            and self.sent[name] >= stream["bursts"]["frames"] * stream["bursts"]["count"]
            for name, (stream, _) in profile.streams.items()
        )
