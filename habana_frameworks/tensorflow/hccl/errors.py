"""Exceptions of collective operations."""


class HcclError(RuntimeError):
    """The ranks' requests differ, or a rank is missing, lost or joined twice."""
