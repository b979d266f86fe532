"""Analysis: evidence to verdicts, validity of trials, audit of published tables."""
