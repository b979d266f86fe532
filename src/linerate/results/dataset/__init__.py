"""Trials of many runs, testbeds and versions as one Parquet dataset."""
