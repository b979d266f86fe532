"""Figures of reports: each as data and layout of a plot, with its main figures in words."""
