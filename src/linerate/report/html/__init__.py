"""Reports as one HTML file that opens offline: a picture a module, put together in page.py."""

from linerate.report.html.page import render

__all__ = ["render"]
