"""Worker process that runs cases: `python -m tests.ops.sweep.worker cpu|hpu|static|bounded|random`.

Requests are pickles on standard input. Replies are pickles on standard output, one for each finished part of a request,
so that the parent knows the last part before a crash; None ends an answer. The CPU's worker runs TensorFlow without the
plugin.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from tests.ops.sweep.records import FRAME_BYTES, Ended, Started

# Memory limit of a process in bytes, for any sizes of a case. The HPU's limit includes reserved pools.
_MEMORY = {"cpu": 2 << 30, "hpu": 6 << 30, "static": 6 << 30, "bounded": 6 << 30, "random": 6 << 30}


def _import() -> None:
    """Imports slow modules that start no threads."""
    import tensorflow as tf

    from tests.ops.sweep import explore

    tf.get_logger().setLevel("ERROR")
    del explore


def _prepare(kind: str) -> str:
    """Initialises the worker, and returns its device."""
    if kind == "cpu":
        return "/device:CPU:0"
    from habana_frameworks.tensorflow import load_habana_module

    load_habana_module()
    return "/device:HPU:0"


def _answer(request: tuple[Any, ...], device: str) -> Iterator[Any]:
    from tests.ops.sweep import bounded_sizes, dynamic_sizes, explore, modes, random_run, registry
    from tests.ops.sweep.case import Case
    from tests.ops.sweep.records import Mode

    action, *arguments = request
    if action == "claims":
        yield registry.claims()
    elif action == "describe":
        yield Case.parse(arguments[0]).program().describe()
    elif action == "explore":
        yield from explore.explore(device, *arguments)
    elif action == "run":
        name, wanted = arguments
        program = Case.parse(name).program()
        for mode in wanted:
            yield mode, modes.run(program, Mode(mode), device)
    elif action == "dynamic":
        name, gradient = arguments
        program = Case.parse(name).program()
        for variant in dynamic_sizes.variants(program, gradient):
            yield variant.name
            yield dynamic_sizes.run(program, variant, device)
    elif action == "random sizes":
        yield from random_run.run(*arguments)
    elif action in ("sizes", "sizes apart", "bounded sizes"):
        name, gradient, bucket = arguments
        program = Case.parse(name).program()
        runs = {
            "sizes": bounded_sizes.run,
            "sizes apart": bounded_sizes.run_apart,
            "bounded sizes": bounded_sizes.run_bounded,
        }
        for number, sizes in enumerate(bounded_sizes.variants(program, gradient)):
            yield number, sizes.name
            yield runs[action](program, sizes, device, bucket)


def _send(reply: Any, replies: BinaryIO) -> None:
    data = pickle.dumps(reply)
    replies.write(len(data).to_bytes(FRAME_BYTES, "little") + data)
    replies.flush()


def _serve(kind: str, replies: BinaryIO) -> None:
    """Serves requests until standard input ends."""
    device = _prepare(kind)
    _send(Started(os.getpid()), replies)
    with open(0, "rb", closefd=False) as requests, contextlib.suppress(EOFError):
        while True:
            for reply in _answer(pickle.load(requests), device):
                _send(reply, replies)
            _send(None, replies)


def main() -> None:
    """Forks a serving process, and a new one after each end, so that TensorFlow is imported only once."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY[sys.argv[1]],) * 2)
    replies: BinaryIO = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keeps output of ops out of the replies
    _import()
    while True:
        child = os.fork()
        if child == 0:
            _serve(sys.argv[1], replies)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            os._exit(0)
        _send(Ended(code), replies)


if __name__ == "__main__":
    main()
