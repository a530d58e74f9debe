"""Exceptions of collective operations."""


class HcclError(RuntimeError):
    """The ranks' requests differ, a rank is missing, lost or joined twice, or TF_CONFIG does not name all processes."""
