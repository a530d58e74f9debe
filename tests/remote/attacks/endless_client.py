"""Launches an endless program on the server in HPU_BACKEND, and waits to be killed."""

from __future__ import annotations

import os
import sys
import time

from habana_frameworks.tensorflow._internal.messages import device_pb2 as pb
from tests.remote.attacks.programs import endless_loop
from tests.remote.device_client import MIB, Session


def main() -> None:
    session = Session(os.environ["HPU_BACKEND"], MIB)
    recipe = session.compile(endless_loop(), b"endless")
    base = session.base
    launch = pb.Launch(recipe=recipe.handle, arguments=[base], results=[base + 4096], workspace=base + 8192)
    session.stream.send(pb.Command(launch=launch))
    sys.stdout.write("launched\n")
    sys.stdout.flush()
    time.sleep(600)


if __name__ == "__main__":
    main()
