"""The first commit that made a forwarder dearer, by statistics (docs/bisect.md).

Nothing here measures: rounds of trials come in, the next one that is wanted goes out.
"""
