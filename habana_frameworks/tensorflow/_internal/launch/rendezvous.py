"""Directory in which the processes of a job create one PJRT client together (HPU_PJRT_COLLECTIVES=device)."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping

from habana_frameworks.tensorflow import flags

# Read by the plugin: RANK/SIZE:DIRECTORY.
VARIABLE = "HPU_PJRT_RENDEZVOUS"


@contextlib.contextmanager
def variables(ranks: int) -> Iterator[Callable[[int], Mapping[str, str]]]:
    """Yields a function that returns the environment variables of a rank; empty unless the setting is `device`.

    The directory is private to this user, and removed at the end of the context.
    """
    if flags.pjrt_collectives() is not flags.PjrtCollectives.DEVICE:
        yield lambda rank: {}
        return
    with tempfile.TemporaryDirectory(prefix="hpu_run_", ignore_cleanup_errors=True) as directory:
        yield lambda rank: {VARIABLE: f"{rank}/{ranks}:{directory}"}
