"""Logs selected training steps: synapse_logger_init() and SynapseLoggerHook (docs/tuning/profiling.md)."""

from __future__ import annotations

import logging
import types
from collections.abc import Iterable
from typing import Any

import tensorflow as tf
from habana_frameworks.tensorflow import flags, multinode_helpers, py_synapse_logger

__all__ = ["SynapseLoggerHelpers", "SynapseLoggerHook", "synapse_logger_init"]

_logger = logging.getLogger(__name__)
_OFF = ("", "0", "false")
# Values that start the log at once. Gaudi's releases since 1.5 take a comma-separated list of _PROVIDERS instead.
_ALL = ("1", "t", "true", "on", "all")
_PROVIDERS = ("synapse", "tf", "fw", "hw")
# Values that leave the start to SynapseLoggerHook.
_RANGES = ("range", "range_hw")


def _asked() -> str:
    return flags.habana_synapse_logger().strip().lower()


def synapse_logger_init() -> None:
    """Prepares the log that HABANA_SYNAPSE_LOGGER requests, and starts it unless the value is range or range_hw.

    Values that start the log: 1, t, true, on, all, or a list of synapse, tf, fw and hw. Other values are ignored with a
    warning. May be called before load_habana_module(). Does nothing if the variable is off. Rank n logs to
    `worker<n>.local.synapse_log.json`.
    """
    asked = _asked()
    if asked in _OFF:
        return
    starts = asked in _ALL or set(asked.split(",")) <= set(_PROVIDERS)
    if not starts and asked not in _RANGES:
        _logger.warning(
            "HABANA_SYNAPSE_LOGGER=%s does not start a log: expected one of %s, or a list of %s",
            asked,
            ", ".join((*_ALL, *_RANGES)),
            ", ".join(_PROVIDERS),
        )
        return
    py_synapse_logger.command("disable")
    py_synapse_logger.command(f"file_name=worker{multinode_helpers.comm_rank()}.local.synapse_log")
    py_synapse_logger.command("category_mask=0x3")
    if starts:
        py_synapse_logger.command("restart")


class SynapseLoggerHelpers:
    """Starts and stops the log of a step."""

    def synapse_logger(self) -> types.ModuleType | None:
        """Returns the logger's module. Returns None, with a warning, if HABANA_SYNAPSE_LOGGER is off."""
        if _asked() in _OFF:
            # The first two sentences are Gaudi's.
            _logger.warning(
                "Synapse logger has not been enabled. Unable to start logging. "
                "HABANA_SYNAPSE_LOGGER is %r; set it to all or range.",
                _asked(),
            )
            return None
        return py_synapse_logger

    def synapse_logger_start(self, step_idx: int, profile_hw: bool = False) -> None:
        """Starts the log of one step, `worker_<rank>_step_<step_idx>.local.synapse_log.json`."""
        if self.synapse_logger() is None:
            return
        rank = multinode_helpers.comm_rank()
        py_synapse_logger.command(f"file_name=worker_{rank}_step_{step_idx}.local.synapse_log")
        py_synapse_logger.command("restart")
        if profile_hw and rank == 0:
            py_synapse_logger.start_hw_profile()

    def synapse_logger_stop(self, profile_hw: bool = False) -> None:
        """Writes the log of the step."""
        if _asked() in _OFF:
            return
        if profile_hw and multinode_helpers.comm_rank() == 0:
            py_synapse_logger.stop_hw_profile()
        py_synapse_logger.command("disable")

    def synapse_logger_log(self, msg: str) -> None:
        """Logs an instant event."""
        if _asked() not in _OFF:
            py_synapse_logger.put_log(msg)


class SynapseLoggerHook(tf.compat.v1.train.SessionRunHook):
    """Logs the listed steps of a MonitoredSession or Estimator. The first run is step 0.

    Each step has its own log, with instant events `call:step` at its begin and end. With `profile_hw`, rank 0 also
    writes default_profiling.json.
    """

    def __init__(self, steps_to_log: int | Iterable[int], profile_hw: bool = False) -> None:
        self._steps = {steps_to_log} if isinstance(steps_to_log, int) else set(steps_to_log)
        self._profile_hw = profile_hw
        self._step = 0
        self._helpers = SynapseLoggerHelpers()

    def before_run(self, run_context: Any) -> None:
        if self._step in self._steps:
            self._helpers.synapse_logger_start(self._step, self._profile_hw)
            self._helpers.synapse_logger_log(f"call:step begin {self._step}")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._step in self._steps:
            self._helpers.synapse_logger_log(f"call:step end {self._step}")
            self._helpers.synapse_logger_stop(self._profile_hw)
        self._step += 1
