"""Capture files: their frames, sides and profiles."""
