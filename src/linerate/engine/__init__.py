"""Engine: control of linerate-engine processes, and readings of their telemetry."""
