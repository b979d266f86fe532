"""Parsers: other tools' output, read into evidence."""
