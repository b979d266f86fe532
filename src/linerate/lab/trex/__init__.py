"""Somebody's TRex server as the tester: TRex's own client drives it, in a process of its own."""
