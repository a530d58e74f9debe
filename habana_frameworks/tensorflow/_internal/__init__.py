"""Implementation of the public modules; not an interface for programs."""
