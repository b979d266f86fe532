"""TRex's stateful profiles: YAML with `cap_info`, templates that are replayed flow by flow.

What they ask for and we do not have is refused by name, never left out in silence.
"""

import re
from pathlib import Path
from typing import Any

from linerate.traffic.profile import Profile
from linerate.traffic.trex.conversation import Timing, packets_of
from linerate.traffic.trex.stateful_document import Json, StatefulDocument
from linerate.traffic.trex.stateful_frames import WORDS, read_frames
from linerate.traffic.trex.stateful_pools import LISTS, Pools, read_pools
from linerate.traffic.yaml_kinds import is_kind, read_yaml

#: `tw` tunes TRex's timer wheel.
TOP = {
    "duration", "generator", "cap_ipg", "cap_ipg_min", "cap_override_ipg", "cap_info", "vlan",
    "mac", "mac_override_by_ip", "tw", "wlength", "ipv6", "port_info", *WORDS,
} | LISTS  # fmt: skip
TEMPLATE = {
    "name", "cps", "ipg", "rtt", "w", "wlength", "limit", "cap_ipg", "server_addr",
    "one_app_server", "plugin_id", "client_pool", "server_pool", "keep_src_port",
}  # fmt: skip
PLUGINS = {1: "RTSP", 2: "SIP", 3: "dynamic payload", 4: "HTTP browsing", 5: "DHCP"}


class TrexStateful:
    """The source of such profiles."""

    name = "TRex stateful profile"

    def recognises(self, text: str) -> bool:
        """A YAML file with `cap_info`."""
        return is_kind(text, "stateful")

    def read(self, text: str) -> Profile:
        """Read it and the captures that it names; raises TrafficError."""
        return _Reader(Path(text), read_yaml(text)).profile()

    def words(self, typed: str) -> list[str]:
        """None: a shell completes files itself."""
        del typed
        return []


class _Reader(StatefulDocument):
    """One file being read."""

    def __init__(self, path: Path, document: object) -> None:
        super().__init__(path)
        entries = document if isinstance(document, list) else [document]
        if len(entries) != 1 or not isinstance(entries[0], dict):
            raise self.refusal("", "expected a list of one mapping")
        self._top: Json = entries[0]
        self._files: list[Path] = [path]

    def profile(self) -> Profile:
        """All of it."""
        self.mapping("", self._top, TOP)
        self._refuse_top()
        pools = read_pools(self, self._top)
        self._frames = read_frames(self, self._top)
        infos = self._top["cap_info"]
        if not isinstance(infos, list) or not infos:
            raise self.refusal("cap_info", "expected a list of templates")
        templates = [self._template(f"cap_info[{n}]", info, pools) for n, info in enumerate(infos)]
        cps = sum(template["cps"] for template in templates)
        plural = "s" * (len(templates) > 1)
        unused = " (mac is not used)" if "mac" in self._top else ""
        return Profile(
            name=re.sub(r"[^A-Za-z0-9_-]+", "-", self.path.stem).strip("-")[:40] or "profile",
            text=f"{len(templates)} template{plural}, {cps:,g} connections/s{unused}",
            streams=(),
            connections=pools.words() | self._frames.words() | {"templates": templates},
            files=tuple(dict.fromkeys(self._files)),
        )

    def _refuse_top(self) -> None:
        vlan = self._top.get("vlan")
        if isinstance(vlan, dict) and vlan.get("enable"):
            raise self.refusal(
                "vlan",
                "TRex turns connections of vlan1 round, which is not had; port_info has tags",
            )
        if self._top.get("mac_override_by_ip"):
            raise self.refusal("mac_override_by_ip", "addresses are the ports' own; expected 0")
        if "mac" in self._top and not _is_mac(self._top["mac"]):
            raise self.refusal("mac", "expected six numbers of 8 bits (they are not used)")

    def _template(self, where: str, asked: object, pools: Pools) -> dict[str, Any]:
        info = self.mapping(where, asked, TEMPLATE)
        self._refuse_template(where, info)
        path = self._capture(f"{where}.name", info.get("name"))
        template: dict[str, Any] = {
            "name": self._name(path),
            "cps": self.number(where, info, "cps"),
            "weight": max(1, int(self.number(where, info, "w", 1))),
            "limit": int(self.number(where, info, "limit", 0)),
            **pools.choice(self, where, info),
            "packets": packets_of(path, self._timing(where, info), self._frames),
        }
        if not template["cps"]:
            raise self.refusal(f"{where}.cps", "expected more than 0")
        if info.get("one_app_server"):
            server = self.address(f"{where}.server_addr", info.get("server_addr"))
            template["server"] = str(server)
        return template

    def _refuse_template(self, where: str, info: Json) -> None:
        plugin = info.get("plugin_id", 0)
        if plugin:
            name = PLUGINS.get(plugin, "unknown")
            raise self.refusal(f"{where}.plugin_id", f"{plugin} ({name}) is not had; expected 0")
        if info.get("keep_src_port"):
            raise self.refusal(f"{where}.keep_src_port", "not had; expected false")

    def _timing(self, where: str, info: Json) -> Timing:
        captured = info.get("cap_ipg", self._top.get("cap_ipg", False))
        least = self.number("", self._top, "cap_ipg_min") if "cap_ipg_min" in self._top else None
        return Timing(
            ipg=self.number(where, info, "ipg", 0 if captured else None),
            rtt=self.number(where, info, "rtt", 0 if captured else None),
            captured=bool(captured),
            least=least,
            instead=self.number("", self._top, "cap_override_ipg", 0),
        )

    def _capture(self, where: str, name: object) -> Path:
        """Find the file beside the profile or above it: TRex takes names from where it is run."""
        if not isinstance(name, str) or not name:
            raise self.refusal(where, "expected the name of a capture file")
        for folder in self.path.absolute().parents:
            found = folder / name
            if found.is_file():
                self._files.append(found)
                return found
        raise self.refusal(where, f"no file '{name}' beside it or in a folder above")

    def _name(self, path: Path) -> str:
        """Another one for each template: one capture may be several."""
        count = self._files.count(path)
        return path.stem[:40] if count == 1 else f"{path.stem[:40]}-{count}"


def _is_mac(value: object) -> bool:
    """The base of the addresses that TRex itself would send from, as bytes."""
    return isinstance(value, list) and len(value) == 6 and all(_is_byte(one) for one in value)


def _is_byte(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 0xFF
