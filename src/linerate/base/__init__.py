"""Base: values, arithmetic and safe file access that know nothing of packets being measured."""
