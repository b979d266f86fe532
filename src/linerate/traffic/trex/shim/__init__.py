"""Runs TRex profiles of others: a process of its own, `runner.py`, never imported.

Its files know nothing of linerate; scapy is imported here and nowhere else.
"""
