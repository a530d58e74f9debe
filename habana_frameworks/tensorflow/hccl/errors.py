"""What can go wrong between ranks."""


class HcclError(RuntimeError):
    """The ranks ask for different things, or one of them does not come. The message names ranks and sizes."""
