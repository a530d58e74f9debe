"""`hpu serve` with fake session processes that obey their clients. Accepts the command's arguments."""

from __future__ import annotations

import sys

from habana_frameworks.tensorflow import device_server
from habana_frameworks.tensorflow.cli import main
from tests.remote import fronts

if __name__ == "__main__":
    device_server._fork_server_command = fronts.command
    sys.exit(main(["serve", *sys.argv[1:]]))
