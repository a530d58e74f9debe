"""Time limit for a whole transfer; a socket's timeout applies to each read or write."""

from __future__ import annotations

import contextlib
import signal
import types
from collections.abc import Iterator

from habana_frameworks.tensorflow.recipe_store.remote.errors import StorageError


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises StorageError in the `with` block after `seconds`. Main thread only, because it uses SIGALRM."""

    def expire(signal_number: int, frame: types.FrameType | None) -> None:
        raise StorageError(f"the transfer timed out after {seconds:g} s; raise HPU_RECIPE_CACHE_REMOTE_TIMEOUT_S")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
