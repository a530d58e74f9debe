"""Exceptions of collective operations."""


class HcclError(RuntimeError):
    """The ranks' requests differ, or a rank is missing. The message names ranks and sizes."""
