"""Boxes: devices under test that somebody else set up, asked by commands while they forward."""
