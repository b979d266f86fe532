"""A bisection of commits: each is built, and its engine measured in turn with those of the ends."""
