"""Suite `standard`: the eight loadtests of the published tables.

Large and small frames, many flows and one, plain and MPLS, in one direction and in both.
"""

from linerate.model.suites.loadtest import Loadtest, Suite, Traffic

_TRAFFIC = (
    Traffic(1514, "many"),
    Traffic(64, "many"),
    Traffic(64, "one"),
    Traffic(64, "one", "mpls"),
)

SUITE = Suite(
    "standard",
    tuple(
        Loadtest(f"{letter}{number}", traffic, directions)
        for letter, directions in (("U", 1), ("B", 2))
        for number, traffic in enumerate(_TRAFFIC, start=1)
    ),
)
