"""User interfaces that keep running: live views, pages, Prometheus metrics."""
