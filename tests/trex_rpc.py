"""Requests of TRex's clients to a server without sockets."""

import base64
import json

from linerate.trex_server.rpc import answer

ETHERNET = bytes.fromhex("000000010000000000020000")
UDP4 = bytes.fromhex("0800 45000056 00010000 4011 0000 10000001 30000001 0401000c 0042 1234")


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Client:
    """Calls a server without a socket."""

    def __init__(self, server):
        self.server = server
        self.handle = None
        self.handlers = {}

    def raw(self, name, /, **given):
        given = given | ({"api_h": self.handle} if self.handle else {})
        request = {"jsonrpc": "2.0", "id": 5, "method": name, "params": given}
        reply = json.loads(answer(self.server, json.dumps(request).encode()))
        assert reply["jsonrpc"] == "2.0"
        assert reply["id"] == 5
        return reply

    def call(self, name, /, **given):
        reply = self.raw(name, **given)
        assert "error" not in reply, reply
        return reply["result"]

    def refused(self, name, /, **given):
        return self.raw(name, **given)["error"]["specific_err"]

    def connect(self):
        self.handle = self.call("api_sync_v2", name="STL", major=5, minor=1)["api_h"]
        return self

    def acquire(self, port=0, user="me", session=1, force=False):
        self.handlers[port] = self.call(
            "acquire", port_id=port, user=user, session_id=session, force=force
        )
        return self

    def on(self, name, /, port=0, **given):
        return self.call(name, port_id=port, handler=self.handlers[port], **given)

    def add(self, number=1, port=0, profile="_", **changes):
        return self.on(
            "add_stream", port, profile_id=profile, stream_id=number, stream=stream(**changes)
        )

    def start(self, port=0, value=1.0, unit="raw", duration=-1, **more):
        mul = {"type": unit, "value": value, "op": "abs"}
        return self.on("start_traffic", port, mul=mul, duration=duration, **more)


def stream(pps=1000.0, kind="pps", stats=None, pg_id=0, payload=60, **more):
    packet = ETHERNET + UDP4 + bytes(payload)
    return {
        "enabled": True,
        "self_start": True,
        "isg": 0.0,
        "action_count": 0,
        "core_id": -1,
        "flags": 1,
        "packet": {"binary": base64.b64encode(packet).decode(), "meta": ""},
        "vm": {"instructions": []},
        "mode": {"type": "continuous", "rate": {"type": kind, "value": pps}},
        "flow_stats": {"enabled": True, "rule_type": stats, "stream_id": pg_id}
        if stats
        else {"enabled": False},
        "next_stream_id": -1,
    } | more
