"""Pools of clients and of servers in a TRex stateful YAML, and which of them templates name."""

from dataclasses import dataclass
from typing import Any

from linerate.traffic.trex.stateful_document import Json, StatefulDocument

SIDES = ("client", "server")
#: `clients_per_gb` and `min_clients` mean nothing to TRex any more; `dual_port_mask` and
#: `split_to_ports` are for more than one pair of ports; ports come in turn, so that one rests as
#: long as can be by itself, and all are tracked.
IGNORED = {
    "clients_per_gb", "min_clients", "dual_port_mask", "split_to_ports", "tcp_aging", "udp_aging",
}  # fmt: skip
OWN = {"distribution", "clients_start", "clients_end", "servers_start", "servers_end"}
LISTS = {"generator_clients", "generator_servers"}
POOL = {"name", "distribution", "ip_start", "ip_end", "track_ports"} | IGNORED
ORDERS = {"seq": "sequential", "random": "random"}
#: TRex's name for the first pool, whatever its name.
FIRST = "default"


@dataclass(frozen=True, slots=True)
class Pools:
    """Those of both sides, in the engine's words."""

    #: Pools of each side.
    lists: tuple[list[dict[str, str]], list[dict[str, str]]]

    def words(self) -> dict[str, Any]:
        """The engine's `clients` and `servers`."""
        return {f"{side}s": pools for side, pools in zip(SIDES, self.lists, strict=True)}

    def choice(self, document: StatefulDocument, where: str, info: Json) -> dict[str, str]:
        """The pools that a template names."""
        chosen = {}
        for side, pools in zip(SIDES, self.lists, strict=True):
            name = info.get(f"{side}_pool", FIRST)
            if name == FIRST:
                continue
            if name not in (pool["name"] for pool in pools):
                known = ", ".join(pool["name"] for pool in pools)
                raise document.refusal(
                    f"{where}.{side}_pool", f"no pool '{name}' of {side}s; there are {known}"
                )
            chosen[f"{side}_pool"] = name
        return chosen


def read_pools(document: StatefulDocument, top: Json) -> Pools:
    """Read the whole YAML; raises TrafficError."""
    generator = document.mapping("generator", top.get("generator", {}), OWN | LISTS | IGNORED)
    if any(key in top for key in LISTS):
        if any(key in generator for key in LISTS):
            raise document.refusal("generator_clients", "expected pools once, in generator")
        generator = {**generator, **{key: top[key] for key in LISTS if key in top}}
    clients, servers = (_side(document, generator, side) for side in SIDES)
    return Pools((clients, servers))


def _side(document: StatefulDocument, generator: Json, side: str) -> list[dict[str, str]]:
    """The generator's own pool comes first, as "default"; then those of the list."""
    pools, key = [], f"generator_{side}s"
    if f"{side}s_start" in generator or key not in generator:
        own = _pool(document, "generator", generator, f"{side}s_start", f"{side}s_end")
        pools.append({"name": FIRST, **own})
    named = generator.get(key, [])
    if not isinstance(named, list) or (not named and not pools):
        raise document.refusal(f"generator.{key}", "expected a list of pools")
    for number, one in enumerate(named):
        where = f"generator.{key}[{number}]"
        name = document.mapping(where, one, POOL).get("name")
        if not isinstance(name, str) or not 0 < len(name) < 64:
            raise document.refusal(f"{where}.name", "expected a name of 1 to 63 characters")
        if name in (pool["name"] for pool in pools):
            raise document.refusal(f"{where}.name", f"'{name}' is another pool's name")
        pools.append({"name": name, **_pool(document, where, one, "ip_start", "ip_end")})
    return pools


def _pool(
    document: StatefulDocument, where: str, mapping: Json, first: str, last: str
) -> dict[str, str]:
    ends = [document.address(f"{where}.{key}", mapping.get(key)) for key in (first, last)]
    if ends[1] < ends[0]:
        raise document.refusal(f"{where}.{last}", f"expected {ends[0]} or higher")
    asked = mapping.get("distribution", "seq")
    if asked not in ORDERS:
        raise document.refusal(
            f"{where}.distribution", f"'{asked}' is not had; expected seq or random"
        )
    return {"min": str(ends[0]), "max": str(ends[1]), "order": ORDERS[asked]}
