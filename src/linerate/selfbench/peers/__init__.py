"""Programs that ours are compared with; one adapter a file."""
