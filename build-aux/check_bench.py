"""Checks a bench's JSON by what was counted: on a busy host rates are provisional, sums are not.

Arguments: the JSON file, and the names of the loadtests that it must have (U2,U4).
"""

import json
import sys
from pathlib import Path


def main() -> None:
    """Exit with a sentence unless each of the tests is there, and its ledger is balanced."""
    path, names = sys.argv[1:]
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    if document["status"] != "complete":
        sys.exit(f"linerate: loadtests: {document['problem']}")
    for trial in document["trials"]:
        ledger = trial["ledger"]
        print(
            f"linerate: {trial['test']}: {ledger['received']:,} of {ledger['sent']:,} packets "
            f"received, {ledger['unexplained']} unexplained"
        )
        if ledger["received"] <= 0 or ledger["unexplained"] != 0:
            sys.exit(f"linerate: {trial['test']}: its ledger is not balanced: {ledger}")
    missing = set(names.split(",")) - {trial["test"] for trial in document["trials"]}
    if missing:
        sys.exit(f"linerate: loadtests without a result: {', '.join(sorted(missing))}")


if __name__ == "__main__":
    main()
