"""The other direction of a stream: sources are destinations, and the other way round."""

from typing import Any

from linerate.traffic.profile import Stream, TrafficError
from linerate.traffic.turn import turned

_SWAPPED = {"src": "dst", "dst": "src"}
_LAYERS = ("ethernet", "ipv4", "ipv6", "udp", "tcp")


def mirrored(stream: Stream) -> Stream:
    """The stream that answers this one; raises TrafficError for a capture's."""
    name = stream.get("name")
    found: dict[str, Any] = {**stream, "port": 1 - int(stream.get("port", 0))}
    if name:
        found["name"] = f"{name}-back"
    if "template" in stream:
        if "places" in stream:
            raise TrafficError("directions: the frames of a capture have no other direction")
        return found | turned(stream)
    found["layers"] = [_layer(layer) for layer in stream.get("layers", ())]
    if "modifiers" in stream:
        found["modifiers"] = [_modifier(one) for one in stream["modifiers"]]
    if "flows" in stream:
        # The engine turns the template round itself.
        flows = stream["flows"]
        found["layers"] = [_ethernet_only(layer) for layer in stream.get("layers", ())]
        found["flows"] = {**flows, "mirror": not flows.get("mirror", False)}
    return found


def _layer(layer: dict[str, Any]) -> dict[str, Any]:
    return {
        kind: {_SWAPPED.get(key, key): value for key, value in (fields or {}).items()}
        if kind in _LAYERS
        else fields
        for kind, fields in layer.items()
    }


def _ethernet_only(layer: dict[str, Any]) -> dict[str, Any]:
    return _layer(layer) if "ethernet" in layer else layer


def _modifier(modifier: dict[str, Any]) -> dict[str, Any]:
    layer, _, field = str(modifier["field"]).partition(".")
    return {**modifier, "field": f"{layer}.{_SWAPPED.get(field, field)}"}
