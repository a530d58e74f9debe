"""A process beside a launcher that ends what its ranks have started, should the launcher be killed.

Run as a file, with the numbers of the ranks' process groups on stdin, a line for each. The end of stdin says that the
launcher has died, unless a line "done" came before it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

DONE = "done"


def main() -> None:
    """Waits for the launcher's end."""
    groups = []
    for line in sys.stdin:
        if line.strip() == DONE:
            return
        groups.append(int(line))
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
