"""`python -m linerate` is the `linerate` command."""

from linerate.cli import main

main()
