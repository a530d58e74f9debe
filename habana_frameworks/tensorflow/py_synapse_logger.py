"""Log of device activity, with the commands of Gaudi's synapse logger: command("enable"), command("disable").

The log is a trace (docs/tuning/profiling.md). `disable`, `restart` and the end of the program write the trace to
`<file_name>.json`, or `<file_name>.<pid>.json` after `use_pid_suffix`. Not thread safe.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import pathlib
from collections.abc import Callable, Sequence

from habana_frameworks.tensorflow import device_trace, flags

__all__ = ["command", "dump_reference", "put_log", "start_hw_profile", "stop_hw_profile"]

_logger = logging.getLogger(__name__)

_DEFAULT_BASE = ".local.synapse_log"
_HW_PROFILE = "default_profiling.json"
# File in the working directory with commands, separated by white space or colons.
_COMMAND_FILE = "synapse_logger_command"
# Commands without effect: a trace of this device has no tensor contents, and its file format is fixed.
_CAPTURES = [f"{verb}_{what}_capture" for verb in ("start", "stop") for what in ("data", "vtensor", "ctensor")]
_WRITING = ["eager_flush", "no_eager_flush", "optimize_trace", "lazy_open", "use_null_backend", "disable_mask"]
# The mask of synapse_logger_init(): calls and data of all kinds.
_ALL_CATEGORIES = 0x3
_WITHOUT_EFFECT = frozenset([*_CAPTURES, *_WRITING])


class _SynapseLogger:
    def __init__(self) -> None:
        self.base = _DEFAULT_BASE
        self.pid_suffix = False
        self.recording: device_trace.Recording | None = None
        self.hw_profile: device_trace.Recording | None = None

    def enable(self) -> None:
        if self.recording is None:
            self.recording = device_trace.Recording()

    def disable(self) -> None:
        recording, self.recording = self.recording, None
        if recording is not None:
            recording.write(self._path())

    def restart(self) -> None:
        self.disable()
        self.enable()

    def stop_hw_profile(self) -> None:
        profile, self.hw_profile = self.hw_profile, None
        if profile is not None:
            profile.write(_HW_PROFILE)

    def finish(self) -> None:
        """Writes the open traces at exit."""
        self.disable()
        self.stop_hw_profile()

    def set_value(self, name: str, value: str) -> None:
        if name == "file_name":
            self.base = value
        elif name == "category_mask":
            _check_category_mask(value)
        else:
            raise ValueError(f"the synapse logger has no command {name}=…; valid: file_name and category_mask")

    def use_pid_suffix(self) -> None:
        self.pid_suffix = True

    def _path(self) -> pathlib.Path:
        return pathlib.Path(f"{self.base}.{os.getpid()}.json" if self.pid_suffix else f"{self.base}.json")


def _check_category_mask(value: str) -> None:
    """Accepts the mask that programs set for the whole log. Raises ValueError otherwise: this log has no categories."""
    try:
        mask = int(value, 0)
    except ValueError:
        raise ValueError(f"category_mask={value} is not a number; expected {_ALL_CATEGORIES:#x}") from None
    if mask & _ALL_CATEGORIES != _ALL_CATEGORIES:
        raise ValueError(
            f"category_mask={value} selects categories, but the log of this device always contains all events; use "
            f"{_ALL_CATEGORIES:#x}, or device_trace.record() around the calls of interest"
        )


_state: _SynapseLogger | None = None


def _get() -> _SynapseLogger:
    """Returns the logger. The first call creates it and runs the commands from the environment and the command file."""
    global _state
    if _state is None:
        _state = _SynapseLogger()
        atexit.register(_state.finish)
        left = [flags.hbn_synapse_logger_commands()]
        if pathlib.Path(_COMMAND_FILE).is_file():
            left.append(":".join(pathlib.Path(_COMMAND_FILE).read_text().split()))
        for text in ":".join(left).split(":"):
            if text:
                _run(_state, text)
    return _state


def _run(logger: _SynapseLogger, text: str) -> None:
    name, has_value, value = text.strip().partition("=")
    if has_value:
        logger.set_value(name, value)
        return
    actions: dict[str, Callable[[], None]] = {
        "enable": logger.enable,
        "enable_log": logger.enable,
        "disable": logger.disable,
        "disable_log": logger.disable,
        "restart": logger.restart,
        "use_pid_suffix": logger.use_pid_suffix,
    }
    if name in _WITHOUT_EFFECT:
        _logger.debug("the command %s has no effect on this device", name)
    elif name in actions:
        actions[name]()
    else:
        known = ", ".join([*actions, "file_name=…", "category_mask=…", *sorted(_WITHOUT_EFFECT)])
        raise ValueError(f"the synapse logger has no command {name}; valid: {known}")


def command(text: str) -> None:
    """Runs one command, `name` or `name=value`. Raises ValueError for an unknown command or an invalid value."""
    _run(_get(), text)


def put_log(text: str, level: int = 1) -> None:
    """Logs an instant event with this text. `level` is accepted for compatibility and ignored."""
    _get()
    device_trace.mark(text)


def start_hw_profile() -> None:
    """Starts a separate trace, for default_profiling.json."""
    logger = _get()
    if logger.hw_profile is None:
        logger.hw_profile = device_trace.Recording()


def stop_hw_profile() -> None:
    """Writes default_profiling.json to the working directory. Does nothing without start_hw_profile()."""
    _get().stop_hw_profile()


def dump_reference(ref: str, ref_type: str, vec: Sequence[float]) -> None:
    """Logs an instant event with the name, type and values of a reference tensor."""
    put_log(json.dumps({"ref": ref, "type": ref_type, "values": [float(value) for value in vec]}))
