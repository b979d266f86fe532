"""Linerate and its peers on this machine, in one run, alternating.

One kind of benchmark a file, registered where it stands; docs/performance.md says what
each name measures.
"""
