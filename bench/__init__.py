"""Benchmarks of linerate itself; not part of the package."""
