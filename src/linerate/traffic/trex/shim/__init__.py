"""What runs other people's TRex profiles: a process of its own, `runner.py`, never imported.

Its files know nothing of linerate; scapy is imported here and nowhere else.
"""
