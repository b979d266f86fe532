"""Host: this machine, its namespaces and what `linerate doctor` finds on it."""
