"""Results: runs on disk, their index, comparisons and statistics."""
