"""`python -m linerate` is the `linerate` command."""

from linerate.cli.app import main

main()
