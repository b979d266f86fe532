"""Scenarios: a box set up as a file says, checked frame by frame, then measured by the bench."""
