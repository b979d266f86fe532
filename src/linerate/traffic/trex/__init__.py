"""TRex profiles: stateless Python and YAML, stateful YAML, read into ours."""
