"""Workers of a training in which one worker may be killed. Survivors write how they ended.

multiprocessing starts the workers (spawn), as in programs for Gaudi, so no launcher ends the survivors.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pathlib
import signal
import time

from habana_frameworks.tensorflow._internal.launch import ports


def work(rank: int, workers: list[str], arguments: argparse.Namespace) -> None:
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})
    import tensorflow as tf

    from habana_frameworks.tensorflow import load_habana_module
    from habana_frameworks.tensorflow.distribute import HPUStrategy, in_server
    from tests.distribute.train import batches, build

    load_habana_module()
    strategy = HPUStrategy()

    class Kill(tf.keras.callbacks.Callback):
        """Kills this worker before a step, in which the other workers then wait for it."""

        def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
            step = int(self.model.optimizer.iterations.numpy())
            if rank == arguments.kill and step == arguments.at_step:
                (arguments.out / "killed").write_text(str(time.time()))
                os.kill(os.getpid(), signal.SIGKILL)

    with strategy.scope():
        model = build("cnn")
        model.compile(tf.keras.optimizers.SGD(0.05), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    callbacks = [Kill()]
    if arguments.backup:
        callbacks.insert(0, tf.keras.callbacks.BackupAndRestore(str(arguments.out / "backup")))
    try:
        history = model.fit(batches("cnn", 3), epochs=4, callbacks=callbacks, verbose=0)
        outcome = {"losses": history.history["loss"], "epochs": history.epoch, "error": ""}
    except tf.errors.OpError as error:
        outcome = {"losses": [], "epochs": [], "error": str(error)}
    outcome |= {"in_server": any(in_server._answers.values()), "ended": time.time()}
    (arguments.out / f"outcome_{rank}.json").write_text(json.dumps(outcome))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill", type=int, default=-1)
    parser.add_argument("--at-step", type=int, default=8)
    parser.add_argument("--backup", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with ports.reserved(arguments.workers) as numbers:
        workers = [f"127.0.0.1:{number}" for number in numbers]
        processes = [context.Process(target=work, args=(r, workers, arguments)) for r in range(arguments.workers)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()


if __name__ == "__main__":
    main()
