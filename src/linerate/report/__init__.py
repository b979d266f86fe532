"""Reports: what was measured, for people and for programs."""
