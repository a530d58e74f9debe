"""Client process of benchmarks/remote.py: runs the requests from standard input on the device in HPU_BACKEND."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

from benchmarks.models import PROBLEMS, Trainer
from habana_frameworks.tensorflow import habana_device, load_habana_module

CPU = "/device:CPU:0"
HPU = "/device:HPU:0"

Variant = Callable[[int], None]


def train_steps(name: str) -> Variant:
    """Returns a function that runs train steps on one batch. Reading the last loss waits for all steps."""
    problem = PROBLEMS[name]
    trainer = Trainer(problem, HPU)
    batch = trainer.to_device(problem.batch())

    def run(steps: int) -> None:
        for _ in range(steps):
            loss = trainer.step(*batch)
        loss.numpy()

    return run


def launches() -> Variant:
    """Returns a function that launches one cluster repeatedly, without waiting between launches."""
    with tf.device(HPU):
        one = tf.ones([4])
    add = tf.function(lambda x: x * 0.5 + x, jit_compile=True)

    def run(calls: int) -> None:
        with tf.device(HPU):
            for _ in range(calls):
                add(one)
        habana_device.synchronize()

    return run


def host_tensor(mebibytes: int) -> tf.Tensor:
    with tf.device(CPU):
        return tf.fill([mebibytes << 18], 1.5)


def copies_to_device(mebibytes: int) -> Variant:
    source = host_tensor(mebibytes)

    def run(copies: int) -> None:
        for _ in range(copies):
            with tf.device(CPU):
                fresh = tf.identity(source)  # same memory, new tensor: a tensor caches its copy on the device
            with tf.device(HPU):
                tf.identity(fresh)
        habana_device.synchronize()

    return run


def copies_to_host(mebibytes: int) -> Variant:
    with tf.device(HPU):
        source = tf.identity(host_tensor(mebibytes))

    def run(copies: int) -> None:
        for _ in range(copies):
            with tf.device(HPU):
                fresh = tf.identity(source)  # same memory, new tensor: a tensor caches its copy on the host
            with tf.device(CPU):
                tf.identity(fresh)

    return run


def memcpy(mebibytes: int) -> Variant:
    source = host_tensor(mebibytes).numpy()
    destination = np.copy(source)

    def run(copies: int) -> None:
        for _ in range(copies):
            np.copyto(destination, source)

    return run


def make_variant(name: str) -> Variant:
    kind, _, what = name.partition(" ")
    copying = {"to_device": copies_to_device, "to_host": copies_to_host, "memcpy": memcpy}
    if kind == "launch":
        return launches()
    return train_steps(what) if kind == "step" else copying[kind](int(what))


def main() -> int:
    """Reads lines with the name of a measurement and a count. Answers each line when its work is done."""
    load_habana_module()
    variants: dict[str, Variant] = {}
    for line in sys.stdin:
        name, count = line.rsplit(maxsplit=1)
        if name not in variants:
            variants[name] = make_variant(name)
        variants[name](int(count))
        print("done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
