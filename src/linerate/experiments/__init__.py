"""Experiments: trials in an order, from one bench to searches, sweeps and soaks."""
