"""HTTP for `linerate serve` and `linerate exporter`: bounded connections, one door before all."""
