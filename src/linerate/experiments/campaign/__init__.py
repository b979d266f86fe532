"""Campaigns on Dask: units, who measures what, workers that own testbeds, state."""
