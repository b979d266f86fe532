"""Frames of a scenario: those that are expected of the ones sent, and how those received differ."""
