#!/usr/bin/env python3
"""A stand-in for linerate-engine: ready line, telemetry socket, invented counters.

It simulates a card and a forwarder by arithmetic, so that the lab is tested
without C and without load. FAKE_… variables make it misbehave.
"""

import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

TSC_HZ = 1_000_000_000
#: Rates that the fake forwarder and tester reach, in packets a second.
DUT_PPS = float(os.environ.get("FAKE_DUT_PPS", "20e6"))
TESTER_PPS = float(os.environ.get("FAKE_TESTER_PPS", "60e6"))
#: Packets that wait for the forwarder.
BUFFER = int(os.environ.get("FAKE_BUFFER", "0"))
OFFERED = float(os.environ.get("FAKE_OFFERED", "1"))
#: Behind a device the tester reaches this rate if all packets are received; beyond it, a part.
MANAGES = float(os.environ.get("FAKE_MANAGES", "inf"))
MANAGES_OF_MORE = 0.6
#: In trials of a second and more it manages no more than that.
TIRES = float(os.environ.get("FAKE_TIRES", "inf"))
UNEXPLAINED = int(os.environ.get("FAKE_UNEXPLAINED", "0"))
OPEN_CYCLES = float(os.environ.get("FAKE_OPEN_CYCLES", "0"))
UNDRAINED = "FAKE_UNDRAINED" in os.environ
STUCK = "FAKE_STUCK" in os.environ
PAUSED = float(os.environ.get("FAKE_PAUSED", "0"))
#: Exit in the middle of the Nth engine's trial: a file counts the engines.
DIE_IN = int(os.environ.get("FAKE_DIE_IN", "0"))
#: Reaction of ports to a configured MAC address: accept it, or `own`, `random`.
MACS = os.environ.get("FAKE_MACS", "")
MISBEHAVE = os.environ.get("FAKE_MISBEHAVE", "")
#: Trials are so much shorter than they say.
HURRY = float(os.environ.get("FAKE_HURRY", "1"))
#: Links: bits a second that t0 and t1 negotiated, and after how many questions t1's is up; and
#: the second of a trial in which t0's goes down.
LINK_SPEED = int(os.environ["FAKE_LINK_SPEED"]) if "FAKE_LINK_SPEED" in os.environ else None
LINK_AFTER = float(os.environ.get("FAKE_LINK_AFTER", "0"))
LINK_DOWN = float(os.environ.get("FAKE_LINK_DOWN", "inf"))
#: The second of a trial from which on the tester gets no CPU.
STARVES = float(os.environ.get("FAKE_STARVES", "inf"))


def line_pps(stream, link_bps):
    return link_bps / ((stream["frame_bytes"] + 20) * 8)


class Fake:
    def __init__(self, config):
        self.config = config
        self.started = time.monotonic_ns()
        self.streams = config["tester"]["streams"]
        cards = config.get("cards", [])
        self.card = cards[0] if cards else {"link_bps": 10_000_000_000}
        self.shunt = self.card.get("host") == "shunt"
        self.sent = self.received = self.missed = 0
        self.busy = 0.0
        self.asked_links = 0
        self.trial: dict[str, Any] = {"trial": 0, "state": "idle", "elapsed_us": 0}
        self.lock = threading.Lock()

    def tsc(self):
        return time.monotonic_ns() - self.started

    def start(self, duration_us, scale_ppm):
        self.trial = {
            "trial": self.trial["trial"] + 1,
            "state": "running",
            "duration_us": duration_us,
            "begun": time.monotonic(),
            "start_tsc": self.tsc(),
            "scale": scale_ppm / 1e6,
        }
        return {"trial": self.trial["trial"]}

    def finish(self):
        """Everything that a trial of that length would have counted, at once."""
        seconds = self.trial["duration_us"] / 1e6
        pps = 0.0
        for stream in self.streams:
            if stream["rate"].get("max"):
                pps += TESTER_PPS / len(self.streams)
            else:
                share = stream["rate"].get("percent", 100) / 100 * self.trial["scale"]
                pps += line_pps(stream, self.card["link_bps"]) * share
        if pps > MANAGES and not self.shunt:
            pps = MANAGES + MANAGES_OF_MORE * (pps - MANAGES)
        most = TESTER_PPS if self.shunt or seconds < 1 else min(TESTER_PPS, TIRES)
        sent = round(min(pps, most) * seconds * (1 if self.shunt else OFFERED))
        passed = sent if self.shunt else min(sent, round(DUT_PPS * seconds) + BUFFER)
        self.busy = min(1.0, pps / DUT_PPS)
        self.sent += sent
        self.received += passed - (0 if self.shunt else UNEXPLAINED)
        self.missed += sent - passed
        self.trial |= {
            "state": "done",
            "asked_packets": round(pps * seconds),
            "sent_packets": sent,
            "received_packets": passed,
            "end_tsc": self.trial["start_tsc"] + round(seconds * (1 + PAUSED) * TSC_HZ),
            "paused_us": round(PAUSED * seconds * 1e6),
        }

    def progress(self):
        trial = self.trial
        if trial["state"] == "running":
            elapsed = min((time.monotonic() - trial["begun"]) * HURRY, STARVES) * 1e6
            trial["elapsed_us"] = round(min(elapsed, trial["duration_us"]))
            if elapsed >= LINK_DOWN * 1e6:
                at_us = round(LINK_DOWN * 1e6)
                self.finish()
                trial |= {"elapsed_us": at_us, "link_down_port": ["t0"], "link_down_us": [at_us]}
            elif elapsed >= trial["duration_us"] and not (STUCK and not self.shunt):
                self.finish()
        return {
            "asked_packets": 0,
            "sent_packets": 0,
            "received_packets": 0,
            "paused_us": 0,
            "start_tsc": 0,
            "end_tsc": 0,
            "link_waits": 0,
            "drained": int(trial["state"] == "done" and (self.shunt or not UNDRAINED)),
            **{
                key: value
                for key, value in trial.items()
                if key not in ("begun", "scale", "duration_us")
            },
        }

    def runtime(self, worker):
        now = self.tsc()
        role = "forwarder" if worker != "tester" else "tester"
        packets = self.received
        names = (
            ["port-rx-e0-0", "ip4-lookup", "port-tx-e1"]
            if role == "forwarder"
            else ["generator-t0"]
        )
        accounted = now * (1 - OPEN_CYCLES)
        busy = self.busy if packets else 0.0
        share = accounted * 0.9 * busy / len(names)
        idle = accounted * 0.9 * (1 - busy)
        return {
            "tsc": now,
            "started_tsc": 0,
            "loops": now // 1000,
            "overhead_clocks": round(accounted * 0.1),
            "node": names,
            "calls": [packets // 200 for _ in names],
            "vectors": [packets for _ in names],
            "state": ["polling" if "-rx-" in n or "generator" in n else "active" for n in names],
            "clocks": [round(share) for _ in names],
            "idle_calls": [now // 100] + [0] * (len(names) - 1),
            "idle_clocks": [round(idle)] + [0] * (len(names) - 1),
        }

    def workers(self):
        names = ["tester"] if self.shunt else ["tester", "forwarder-0"]
        return {
            "name": names,
            "cpu": list(range(len(names))),
            # Without a thread: disturbances by a busy machine must not affect the tests.
            "tid": [0 for _ in names],
            "role": ["tester", "forwarder"][: len(names)],
        }

    def ledger(self):
        rows = [
            ("tester t0", "sent", self.sent),
            ("card0 port 0: rx missed (ring full)", "loss", self.missed),
            ("tester", "received", self.received),
        ]
        return {
            "place": [row[0] for row in rows],
            "kind": [row[1] for row in rows],
            "packets": [row[2] for row in rows],
        }

    def info(self):
        return {
            "version": "0",
            "dpdk": "DPDK fake",
            "name": self.config["name"],
            "pid": os.getpid(),
            "tsc_hz": TSC_HZ,
            "memory": "4k",
            "layout": "tester on CPU 0, forwarder on CPU 1",
            "mode": "router",
        }

    def errors(self):
        return {
            "worker": ["forwarder-0"],
            "node": ["ip4-lookup"],
            "reason": ["no route"],
            "severity": ["error"],
            "packets": [3],
        }

    def ports(self):
        names = ["t0", "t1"] if self.shunt else ["e0", "e1", "t0", "t1"]
        count = len(names)
        return {
            "name": names,
            "driver": ["card"] * count,
            "mac": [self.mac(name, i) for i, name in enumerate(names)],
            "link_bps": [10**10] * count,
        }

    def mac(self, name, index):
        """The configured address, or with FAKE_MACS=own one that the device insists on."""
        configured = {port["name"]: port.get("mac") for port in self.config.get("ports", ())}
        if MACS == "random":
            return f"02:00:00:00:{os.getpid() >> 8 & 255:02x}:{os.getpid() & 255:02x}"
        return f"02:00:00:00:00:0{index}" if MACS == "own" else configured.get(name)

    def port(self, _name):
        counters = dict.fromkeys(("rx_bytes", "rx_no_mbuf", "tx_bytes", "tx_full"), 0)
        packets = {"rx_packets": self.received, "tx_packets": self.received}
        return counters | packets | {"rx_missed": self.missed, "rx_pcie": 7}

    def queues(self):
        return {
            "name": ["t0"],
            "rx_queues": [1],
            "tx_queues": [1],
            "rx_ring": [1024],
            "tx_ring": [1024],
            "rss": [""],
        }

    def links(self):
        """Up after some questions; none without FAKE_LINK_SPEED, as of a card's ports."""
        self.asked_links += 1
        names = ["t0", "t1"] if LINK_SPEED is not None else []
        down = self.asked_links <= LINK_AFTER
        return {
            "name": names,
            "state": ["down" if down and name == "t1" else "up" for name in names],
            "speed_bps": [LINK_SPEED] * len(names),
            "duplex": ["full"] * len(names),
            "downs": [0] * len(names),
            "ups": [0] * len(names),
        }

    def card_counters(self, _name):
        return {"link_bps": self.card["link_bps"], "port0_rx_packets": self.sent}

    def rings(self):
        levels = {"name": ["card0_port0_rx0"], "size": [1024], "used": [0], "free": [1024]}
        return levels | {"enqueued": [self.received], "dropped": [0], "dequeued": [self.received]}

    def stream_counters(self, _first):
        zeros = {name: [0] for name in ("lost", "duplicated", "out_of_order", "rx_bytes")}
        return {"name": ["s0"], "sent": [self.sent], "received": [self.received]} | zeros

    def order(self, argument):
        given = dict(part.split("=") for part in argument.split(","))
        return self.start(int(given["duration_us"]), int(given["scale_ppm"]))

    def stop(self):
        if self.trial["state"] == "running":
            self.finish()
        return {"trial": self.trial["trial"]}

    def roundtrip(self):
        return {"worker": ["forwarder-0"], "min_ns": [90], "median_ns": [100]}

    def answer(self, command):
        name, comma, argument = command.partition(",")
        method: Any = {
            "info": self.info,
            "workers": self.workers,
            "runtime": self.runtime,
            "errors": self.errors,
            "ports": self.ports,
            "port": self.port,
            "links": self.links,
            "queues": self.queues,
            "card": self.card_counters,
            "rings": self.rings,
            "locks": lambda: {"name": [], "acquisitions": [], "waits": [], "wait_clocks": []},
            "latency": lambda: {"stream": [], "name": [], "port": [], "rx_port": []},
            "ledger": self.ledger,
            "streams": self.stream_counters,
            "trial": self.progress,
            "trial/start": self.order,
            "trial/stop": self.stop,
            # It has none: each trial is of one piece.
            "trial/slices": lambda _first: {"total": 0, "end_us": []},
            "roundtrip": self.roundtrip,
        }.get(name.removeprefix("/linerate/"))
        if method is None:
            return None
        return method(argument) if comma else method()


def serve(fake, connection):
    greeting = {"version": "DPDK fake", "pid": os.getpid(), "max_output_len": 16384}
    with connection, contextlib.suppress(OSError):
        connection.send(json.dumps(greeting).encode())
        while data := connection.recv(1024):
            command = data.decode()
            with fake.lock:
                answer = fake.answer(command)
            if command == "/linerate/trial" and dies():
                os.kill(os.getpid(), signal.SIGKILL)
            connection.send(json.dumps({command.split(",")[0]: answer}).encode())


def dies():
    return DIE_IN and int(Path(os.environ["FAKE_COUNT"]).read_text()) == DIE_IN


def count_me():
    if counter := os.environ.get("FAKE_COUNT"):
        path = Path(counter)
        path.write_text(str(int(path.read_text() or 0) + 1 if path.exists() else 1))


def watch_parent(pid):
    while Path(f"/proc/{pid}").exists() and os.getppid() == pid:
        time.sleep(0.05)
    os._exit(0)


def main():
    if sys.argv[1] == "--check":
        json.loads(Path(sys.argv[2]).read_text())
        return
    assert sys.argv[1] == "--parent"
    config = json.loads(Path(sys.argv[3]).read_text())
    count_me()
    if MISBEHAVE == "exit":
        print("no memory for the ports", file=sys.stderr)
        sys.exit(1)
    if MISBEHAVE == "odd-ready":
        print("ready: what?", flush=True)
        time.sleep(60)
    folder = Path(os.environ["LINERATE_RUNTIME"]) / f"linerate-{config['name']}"
    folder.mkdir(parents=True)
    path = folder / "dpdk_telemetry.v2"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(path))
    listener.listen()
    if MISBEHAVE == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=watch_parent, args=(int(sys.argv[2]),), daemon=True).start()
    print("ready: " + json.dumps({"socket": str(path), "pid": os.getpid()}), flush=True)
    fake = Fake(config)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(fake, connection), daemon=True).start()


main()
