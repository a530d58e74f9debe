"""Helper process that kills a job's process groups if the launcher is killed.

Runs as a script. Reads the ranks' process group ids from stdin, one per line. End of file without a preceding line
"done" means that the launcher has died.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

DONE = "done"


def main() -> None:
    """Waits for the end of the launcher. Kills the process groups unless the launcher ended normally."""
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
