"""Figures of reports, for plotly: each with its main figures in words."""
