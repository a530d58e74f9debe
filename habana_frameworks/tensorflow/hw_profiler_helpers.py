"""Traces selected steps of an unmodified program: TF_HOOK_MODE and HABANA_PROFILE_RANGE.

load_habana_module() calls `install()` for these variables and for HABANA_PROFILE (docs/tuning/profiling.md).
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import inspect
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from habana_frameworks.tensorflow import device_trace, flags, habana_device, multinode_helpers
from habana_frameworks.tensorflow._internal.patches import keras_import
from habana_frameworks.tensorflow.errors import SettingError

__all__ = ["SynapseLoggerHook", "append_param", "install", "wrap_train"]

RANGE_FORM = "start:stop, two step numbers with start before stop, such as 10:20"
NO_STEPS = "has no effect, because no step is counted: set TF_HOOK_MODE to all, v1, keras or ctl"
_OFF = ("", "0", "false")
_logger = logging.getLogger(__name__)


def append_param(func: Callable[..., Any], arg: str, update: Iterable[Any]) -> Callable[..., Any]:
    """Wraps `func` so that the items of `update` are appended to its list parameter `arg`.

    The caller's list is copied, not changed; None counts as an empty list. Raises ValueError without such a parameter.
    """
    signature = inspect.signature(func)
    if arg not in signature.parameters:
        raise ValueError(
            f"{func.__qualname__} has no parameter {arg}; expected one of {', '.join(signature.parameters)}"
        )
    added = list(update)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind_partial(*args, **kwargs)
        given = bound.arguments.get(arg)
        items = list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]
        bound.arguments[arg] = items + added
        return func(*bound.args, **bound.kwargs)

    return wrapper


class SynapseLoggerHook:
    """Traces the listed steps. before_run() and after_run() mark the begin and end of a step.

    Steps count from 0. Each run of consecutive steps becomes one file, `default_profiling_[<first>-<last>].json`. In a
    job of several processes the file name begins with the rank. `profile_hw` also records shapes.
    """

    def __init__(self, steps_to_log: int | Iterable[int], profile_hw: bool = True) -> None:
        self._steps = {steps_to_log} if isinstance(steps_to_log, int) else set(steps_to_log)
        self._detailed = profile_hw
        self._step = 0
        self._first = 0
        self._recording: device_trace.Recording | None = None

    def before_run(self) -> None:
        """If the step is listed, starts a trace unless one is running, and marks the step."""
        if self._step not in self._steps:
            return
        if self._recording is None:
            self._first = self._step
            self._recording = device_trace.Recording(self._detailed)
        device_trace.mark(f"step {self._step}")

    def after_run(self) -> None:
        """Writes the trace if the next step is not listed."""
        self._step += 1
        if self._recording is not None and self._step not in self._steps:
            self.finish()

    def finish(self) -> None:
        """Stops and writes the current trace, if any. Called at exit in case the last listed step was not reached."""
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.write(_file_name(f"[{self._first}-{self._step - 1}]"))


def wrap_train(trainable: Any, hook: SynapseLoggerHook | None = None) -> Any:
    """Makes each call of `trainable.train` one step of `hook`, and returns `trainable`.

    hook: None uses the hook of HABANA_PROFILE_RANGE. Without this wrapper TF_HOOK_MODE=ctl counts calls of
        tf.functions; with it, a call of `train` is one step even if it calls several functions.
    """
    counted = hook or _range_hook()
    if counted is not None:
        trainable.train = _around(trainable.train, counted)
    return trainable


def install() -> None:
    """Starts the traces that HABANA_PROFILE, TF_HOOK_MODE and HABANA_PROFILE_RANGE request.

    Called once, after the module is loaded.
    """
    whole = flags.habana_profile().strip().lower() not in _OFF
    mode = flags.tf_hook_mode()
    hook = _range_hook() if mode else None
    if not mode and _range_setting():
        _logger.warning("HABANA_PROFILE_RANGE=%s %s", _range_setting(), NO_STEPS)
    if flags.emulator_profile():
        _warn_without_instructions()
    if whole or hook is not None:
        # As on a card, the trace contains the instructions of each launch, which the emulator's recipes must time.
        os.environ.setdefault("HPU_EMULATOR_PROFILE", "1")
    if flags.emulator_profile():
        device_trace.keep_source_lines()
    if whole:
        recording = device_trace.Recording()
        atexit.register(lambda: recording.write(_file_name("")))
    if hook is None:
        return
    if mode in (flags.TfHookMode.V1, flags.TfHookMode.ALL):
        from tensorflow.python.training.monitored_session import _MonitoredSession

        _MonitoredSession.run = _around(_MonitoredSession.run, hook)
    if mode in (flags.TfHookMode.CTL, flags.TfHookMode.ALL):
        _count_function_calls(hook)
    if mode in (flags.TfHookMode.KERAS, flags.TfHookMode.ALL):
        keras_import.call_after_import(functools.partial(_count_train_batches, hook=hook))


def _warn_without_instructions() -> None:
    """Warns about a backend that does not time instructions, although the program's environment requests them."""
    backend = habana_device.info().get("backend")
    if backend != "emulator":
        _logger.warning(
            'profiles will lack the line "XLA Ops": the backend %s does not time instructions. Unset '
            "HPU_EMULATOR_PROFILE, or set HPU_BACKEND=emulator (docs/tuning/profiling.md)",
            backend,
        )


def _count_train_batches(package: Any, hook: SynapseLoggerHook) -> None:
    """Makes each batch of a Keras package's Model.fit a step."""
    callback = package.callbacks.LambdaCallback(
        on_train_batch_begin=lambda batch, logs: hook.before_run(),
        on_train_batch_end=lambda batch, logs: hook.after_run(),
    )
    package.Model.fit = _without_steps(append_param(package.Model.fit, "callbacks", [callback]))


class _Nesting(threading.local):
    """Number of running calls of this thread that count steps. Calls inside them are not steps."""

    depth = 0

    @contextlib.contextmanager
    def enter(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


_nesting = _Nesting()


def _around(method: Callable[..., Any], hook: SynapseLoggerHook) -> Callable[..., Any]:
    """Makes each outermost call of `method` a step of `hook`."""

    @functools.wraps(method)
    def step(*args: Any, **kwargs: Any) -> Any:
        if _nesting.depth > 0:
            return method(*args, **kwargs)
        hook.before_run()
        try:
            with _nesting.enter():
                return method(*args, **kwargs)
        finally:
            hook.after_run()

    return step


def _without_steps(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a method that counts its own steps, so that calls inside it are not steps."""

    @functools.wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with _nesting.enter():
            return method(*args, **kwargs)

    return wrapper


def _count_function_calls(hook: SynapseLoggerHook) -> None:
    """Makes each outermost eager call of a tf.function a step: a custom training loop calls one for each step."""
    import tensorflow as tf
    from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

    plain, counted = Function.__call__, _around(Function.__call__, hook)

    @functools.wraps(plain)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return (counted if tf.executing_eagerly() else plain)(self, *args, **kwargs)

    Function.__call__ = call


def _range_setting() -> str:
    return flags.habana_profile_range() or flags.tf_hw_profile_range()


def parse_range(text: str) -> range | None:
    """Returns the steps of HABANA_PROFILE_RANGE; None if the text is not of RANGE_FORM."""
    start, _, stop = text.partition(":")
    valid = start.isdecimal() and stop.isdecimal() and int(start) < int(stop)
    return range(int(start), int(stop)) if valid else None


@functools.cache
def _range_hook() -> SynapseLoggerHook | None:
    """Returns the hook for HABANA_PROFILE_RANGE, or None. One per process: all modes share its step count."""
    text = _range_setting()
    if not text:
        return None
    steps = parse_range(text)
    if steps is None:
        name = "HABANA_PROFILE_RANGE" if flags.habana_profile_range() else "TF_HW_PROFILE_RANGE"
        raise SettingError(f"{name}={text} is not {RANGE_FORM}")
    hook = SynapseLoggerHook(steps)
    atexit.register(hook.finish)
    return hook


def _file_name(suffix: str) -> str:
    rank = f"rank_{multinode_helpers.comm_rank()}_" if multinode_helpers.comm_size() > 1 else ""
    return f"{rank}default_profiling{'_' + suffix if suffix else ''}.json"
