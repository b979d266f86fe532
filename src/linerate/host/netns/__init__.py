"""Network namespaces: made, entered, read and removed."""
