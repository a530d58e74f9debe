"""Scalars for TensorBoard: examples per second, time to train, hyperparameters; for Estimators and Keras.

Hooks and callbacks use the argument `summary_writer`, or create a writer for `output_dir`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensorboard.plugins.hparams import api as hparams_api
from tensorboard.plugins.hparams import summary as hparams_summary

import tensorflow as tf

__all__ = [
    "ExamplesPerSecondEstimatorHook",
    "ExamplesPerSecondKerasHook",
    "ExamplesPerSecondKerasHookV1",
    "ExamplesPerSecondKerasHookV2",
    "TBSummary",
    "TensorBoardHook",
    "TensorBoardWithHParamsV1",
    "TensorBoardWithHParamsV2",
    "TimeToTrainEstimatorHook",
    "TimeToTrainKerasHook",
    "write_hparams_v1",
    "write_hparams_v2",
]

_v1 = tf.compat.v1


class TBSummary:
    """Writes scalars to TensorFlow 1 event files in `log_dir`. A context manager that closes the file on exit."""

    def __init__(self, log_dir: str | os.PathLike[str]) -> None:
        self._writer = _file_writer(log_dir)

    def __enter__(self) -> TBSummary:
        return self

    def __exit__(self, *exception: object) -> None:
        self._writer.close()

    def add_scalar(self, tag: str, value: float, global_step: int | None = None) -> None:
        """Writes one scalar for a step."""
        _add_scalars(self._writer, {tag: value}, global_step)


def _file_writer(directory: str | os.PathLike[str]) -> Any:
    with tf.Graph().as_default():  # TensorFlow 1's FileWriter cannot be created in eager mode
        return _v1.summary.FileWriter(os.fspath(directory))


def _add_scalars(writer: Any, values: Mapping[str, float], step: int | None) -> None:
    entries = [_v1.Summary.Value(tag=tag, simple_value=float(value)) for tag, value in values.items()]
    writer.add_summary(_v1.Summary(value=entries), step)
    writer.flush()


def _parameters(hparams: Mapping[str, Any]) -> dict[str, Any]:
    """Hyperparameters of types that TensorBoard can show, plus the program's `precision`."""
    shown = {name: value for name, value in hparams.items() if isinstance(value, (bool, int, float, str))}
    given = hparams.get("dtype", hparams.get("data_type", os.environ.get("TF_BF16_CONVERSION", "false")))
    names = {"false": "fp32", "0": "fp32", "": "fp32", "true": "bf16", "1": "bf16"}
    shown["precision"] = names.get(str(given).lower(), str(given))
    return shown


def write_hparams_v1(writer: Any, hparams: Mapping[str, Any]) -> None:
    """Writes hyperparameters with a TensorFlow 1 FileWriter, or to a directory."""
    own = isinstance(writer, (str, os.PathLike))
    target = _file_writer(writer) if own else writer
    shown = _parameters(hparams)
    target.add_summary(hparams_summary.session_start_pb(hparams=shown).SerializeToString())
    target.flush()
    if own:
        target.close()


def write_hparams_v2(writer: Any, hparams: Mapping[str, Any]) -> None:
    """Writes hyperparameters with a tf.summary writer."""
    with writer.as_default():
        hparams_api.hparams(_parameters(hparams))


class ExamplesPerSecondEstimatorHook(tf.compat.v1.train.StepCounterHook):
    """Writes `examples/sec` (with `batch_size`) and `global_step/sec`.

    extra_metrics: further tags with their counts per step, written as rates per second.
    log_global_step: also write the step.
    verbose: also log the values.
    tags_to_print: log only these tags.
    """

    def __init__(
        self,
        batch_size: int | None = None,
        every_n_steps: int | None = 1,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
        extra_metrics: Mapping[str, float] | None = None,
        log_global_step: bool = False,
        verbose: bool = False,
        tags_to_print: Iterable[str] | None = None,
    ) -> None:
        super().__init__(every_n_steps, every_n_secs, output_dir, summary_writer)
        self._per_step = dict(extra_metrics or {})
        if batch_size is not None:
            self._per_step["examples/sec"] = batch_size
        self._log_global_step = log_global_step
        self._printed = None if tags_to_print is None else set(tags_to_print)
        self._verbose = verbose or self._printed is not None

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        rate = elapsed_steps / elapsed_time
        values = {"global_step/sec": rate, **{tag: rate * count for tag, count in self._per_step.items()}}
        if self._log_global_step:
            values["global_step"] = global_step
        if self._summary_writer is not None:
            _add_scalars(self._summary_writer, values, global_step)
        if self._verbose:
            shown = {tag: value for tag, value in values.items() if self._printed is None or tag in self._printed}
            text = ", ".join(f"{tag} {value:.5g}" for tag, value in shown.items())
            _v1.logging.info("step %d: %s", global_step, text)


def _write_v2(writer: Any, values: Mapping[str, float], step: int) -> None:
    with tf.device("/device:CPU:0"), writer.as_default():
        for tag, value in values.items():
            tf.summary.scalar(tag, value, step=step)
    writer.flush()


class _KerasRate(tf.keras.callbacks.Callback):
    """Measures steps per second, every `every_n_steps` steps or, if given, every `every_n_secs` seconds.

    Subclasses define the writer: `_open(directory)`, `_write(writer, values, step)`.
    """

    _open: Callable[[str], Any]
    _write: Callable[[Any, Mapping[str, float], int], None]

    def __init__(
        self,
        every_n_steps: int = 1,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
        batch_size: int | None = None,
    ) -> None:
        super().__init__()
        self._writer = summary_writer or self._open(output_dir or ".")
        self._every_n_steps, self._every_n_secs, self._batch_size = every_n_steps, every_n_secs, batch_size
        self._step = self._last_step = 0
        self._last_time = 0.0

    def on_train_begin(self, logs: Any = None) -> None:
        self._last_time, self._last_step = time.perf_counter(), self._step

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._step += 1
        steps, seconds = self._step - self._last_step, time.perf_counter() - self._last_time
        due = seconds >= self._every_n_secs if self._every_n_secs is not None else steps >= self._every_n_steps
        if not due:
            return
        self._last_time, self._last_step = time.perf_counter(), self._step
        values = {"global_step/sec": steps / seconds}
        if self._batch_size is not None:
            values["examples/sec"] = self._batch_size * steps / seconds
        self._write(self._writer, values, self._step)


class ExamplesPerSecondKerasHookV1(_KerasRate):
    """Writes `examples/sec` (with `batch_size`) and `global_step/sec` with a TensorFlow 1 FileWriter."""

    _open = staticmethod(_file_writer)
    _write = staticmethod(_add_scalars)


class ExamplesPerSecondKerasHookV2(_KerasRate):
    """Writes `examples/sec` (with `batch_size`) and `global_step/sec` with a tf.summary writer."""

    _open = staticmethod(tf.summary.create_file_writer)
    _write = staticmethod(_write_v2)


ExamplesPerSecondKerasHook = ExamplesPerSecondKerasHookV1


class _HParams(tf.keras.callbacks.TensorBoard):
    """Keras's TensorBoard callback plus hyperparameters. Evaluation writes to `<log_dir>/eval`."""

    def __init__(self, hparams: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._hparams = dict(hparams)

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        self._val_dir = f"{self._log_write_dir}/eval"


class TensorBoardWithHParamsV1(_HParams):
    """Writes the hyperparameters with write_hparams_v1() when training begins."""

    def on_train_begin(self, logs: Any = None) -> None:
        super().on_train_begin(logs)
        write_hparams_v1(self._train_dir, self._hparams)


class TensorBoardWithHParamsV2(_HParams):
    """Writes the hyperparameters with write_hparams_v2() when training begins."""

    def on_train_begin(self, logs: Any = None) -> None:
        super().on_train_begin(logs)
        write_hparams_v2(self._train_writer, self._hparams)


class TensorBoardHook(tf.compat.v1.train.SessionRunHook):
    """Profiles steps a to b of a session (`profile_steps="a,b"`, counted from 1) and writes to `output_dir`."""

    def __init__(self, output_dir: str = "", profile_steps: str = "") -> None:
        parts = [part.strip() for part in profile_steps.split(",") if part]
        self._bounds = [int(part) for part in parts if part.isdecimal()]
        if parts and (len(parts) != 2 or len(self._bounds) != 2 or self._bounds[0] > self._bounds[1]):
            raise ValueError(f'profile_steps="{profile_steps}" is not "first,last", two step numbers such as "10,20"')
        self._output_dir = output_dir or "."
        self._step = 0
        self._profiling = False

    def before_run(self, run_context: Any) -> None:
        self._step += 1
        if self._bounds and self._step == self._bounds[0]:
            tf.profiler.experimental.start(self._output_dir)
            self._profiling = True

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._profiling and self._step >= self._bounds[1]:
            self._stop()

    def end(self, session: Any) -> None:
        if self._profiling:
            self._stop()

    def _stop(self) -> None:
        self._profiling = False
        tf.profiler.experimental.stop()


class TimeToTrainKerasHook(tf.keras.callbacks.Callback):
    """Writes the begin and end times of training, its epochs, evaluation and prediction, in seconds since 1970.

    Tags: `ttt/{train,eval,predict}/{begin,end}` and `ttt/train/epoch/{begin,end}`.
    """

    def __init__(self, output_dir: str | None = None, summary_writer: Any = None) -> None:
        super().__init__()
        self._writer = summary_writer or tf.summary.create_file_writer(output_dir or ".")
        self._epoch = 0

    def _note(self, what: str) -> None:
        _write_v2(self._writer, {f"ttt/{what}": time.time()}, self._epoch)

    def on_train_begin(self, logs: Any = None) -> None:
        self._note("train/begin")

    def on_train_end(self, logs: Any = None) -> None:
        self._note("train/end")

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._epoch = epoch
        self._note("train/epoch/begin")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._note("train/epoch/end")

    def on_test_begin(self, logs: Any = None) -> None:
        self._note("eval/begin")

    def on_test_end(self, logs: Any = None) -> None:
        self._note("eval/end")

    def on_predict_begin(self, logs: Any = None) -> None:
        self._note("predict/begin")

    def on_predict_end(self, logs: Any = None) -> None:
        self._note("predict/end")


class TimeToTrainEstimatorHook(tf.compat.v1.train.SessionRunHook):
    """Writes the begin and end times of an Estimator's session, in seconds since 1970.

    Tags: `ttt/<train_or_eval>/{begin,end}`.
    """

    def __init__(self, train_or_eval: str, output_dir: str) -> None:
        if train_or_eval not in ("train", "eval", "predict"):
            raise ValueError(f'train_or_eval="{train_or_eval}" is not one of train, eval, predict')
        self._what = train_or_eval
        self._output_dir = output_dir
        self._writer: Any = None

    def begin(self) -> None:
        self._writer = _v1.summary.FileWriterCache.get(self._output_dir)

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._note("begin", session)

    def end(self, session: Any) -> None:
        self._note("end", session)

    def _note(self, moment: str, session: Any) -> None:
        step = _v1.train.get_global_step()
        number = 0 if step is None else session.run(step)
        _add_scalars(self._writer, {f"ttt/{self._what}/{moment}": time.time()}, int(number))
