"""Verdicts on outputs that people published, compared with what an expert reads from them."""
