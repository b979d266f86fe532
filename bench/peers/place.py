"""Chooses where to measure: the CPUs that this process may use, and its memory."""

from bench.peers.model import Place
from linerate.model.environment import Environment

#: Pages of 2 MiB that the largest benchmark takes.
HUGEPAGES_NEEDED = 640


def choose(environment: Environment) -> Place:
    """Keep the house on the first CPU and measure on the last."""
    free = environment.hugepages_free
    return Place(
        main_cpu=environment.cpus[0],
        work_cpu=environment.cpus[-1],
        hugepages=free >= HUGEPAGES_NEEDED,
        hugepages_free=free,
    )
