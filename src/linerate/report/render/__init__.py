"""Renderers of documents: terminal, Markdown, HTML, JSON."""
