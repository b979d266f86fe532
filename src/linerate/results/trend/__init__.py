"""Trends: a figure over commits, where it changed, and what changed inside."""
