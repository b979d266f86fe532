"""First frames of a profile's shapes, as a port sends them; prints JSON: by shape, in hex.

PORTS, and for each PATH:SHAPE:FRAMES.
"""

import json
import sys
import time
from typing import Any

import lbr_trex_client  # noqa: F401 (makes `trex` known)
from trex.stl.api import STLClient, STLProfile

WAIT_SECONDS = 40
#: Packets a second where no burst has times of its own: few enough for all to be captured.
EVEN = "2kpps"

client = STLClient(server="127.0.0.1", sync_port=int(sys.argv[1]), async_port=int(sys.argv[2]))
client.connect()
client.reset(ports=[0])
client.set_service_mode(ports=[0])


def sent(path, shape, limit):
    streams = STLProfile.load_py(path, shape=shape).get_streams()
    client.remove_all_streams(ports=[0])
    client.add_streams(streams, ports=[0])
    even = all(one.to_json()["mode"]["type"] == "continuous" for one in streams)
    capture = client.start_capture(tx_ports=[0], limit=limit)["id"]
    frames: list[dict[str, Any]] = []
    try:
        client.start(ports=[0], mult=EVEN if even else "1", duration=WAIT_SECONDS, force=True)
        until = time.monotonic() + WAIT_SECONDS
        while client.get_capture_status()[capture]["count"] < limit and time.monotonic() < until:
            time.sleep(0.02)
        if not even:
            # Its end is an event, which would be taken for that of the next shape.
            client.wait_on_traffic(ports=[0], timeout=WAIT_SECONDS)
    finally:
        client.stop(ports=[0])
        client.stop_capture(capture, frames)
    return [one["binary"].hex() for one in frames]


made = {}
for word in sys.argv[3:]:
    path, shape, frames_wanted = word.split(":")
    made[shape] = sent(path, shape, int(frames_wanted))
client.disconnect()
print(json.dumps(made))
