"""TRex's console, as its package has it; words of the command line are its own."""

import sys

import lbr_trex_client  # noqa: F401 (makes `trex` known)
from trex.console.trex_console import main

sys.exit(main())
