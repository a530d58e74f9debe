"""Checks and adjusts the environment before the plugin reads its settings."""

from __future__ import annotations

import logging
import os
import sys

from habana_frameworks.tensorflow import errors, flags
from habana_frameworks.tensorflow._internal import cards, flag_values

_logger = logging.getLogger(__name__)
# TensorFlow has read the second name since 1.15; Gaudi's guide uses the first.
_OLD_VLOG, _VLOG = "TF_CPP_MIN_VLOG_LEVEL", "TF_CPP_MAX_VLOG_LEVEL"


def translate_vlog_level() -> None:
    """Copies the VLOG level to the variable that TensorFlow reads, and warns about the old name."""
    level = flags.tf_cpp_min_vlog_level()
    if level == 0 or _VLOG in os.environ:
        return
    # TensorFlow's libraries read the variable at import; the plugin reads the variable at its first message.
    reach = (
        "only the HPU plugin, because TensorFlow is already imported" if "tensorflow" in sys.modules else "all messages"
    )
    _logger.warning(
        "TensorFlow reads %s, not %s: %s is now set to %d, which affects %s", _VLOG, _OLD_VLOG, _VLOG, level, reach
    )
    os.environ[_VLOG] = str(level)


def report_misspelt_card() -> None:
    """Warns if HPU_DEVICE_TYPE looks like a misspelt card name."""
    if problem := cards.spelling_problem(flags.device_type()):
        _logger.warning("HPU_DEVICE_TYPE=%s %s", flags.device_type(), problem)


def report_unknown_settings() -> None:
    """Warns about unknown variables that are named like settings, old names of settings, and numbers out of range.

    With HPU_STRICT_FLAGS, raises SettingError for unknown HPU_ variables.
    """
    for flag in flag_values.renamed(flags.ALL, os.environ):
        _logger.warning("%s was renamed to %s; the old name still works", flag.old_name, flag.name)
    for flag in flags.ALL:
        if flag.effect is flag_values.Effect.ACTS and flag_values.missed_range(flag):
            flag_values.parse_int(flag)  # warns
    found = flag_values.unknown(flags.ALL, os.environ)
    ours = [variable for variable in found if variable.name.startswith("HPU_")]
    if ours and flags.strict_flags():
        listed = "; ".join(map(str, ours))
        raise errors.SettingError(f"{listed} (an error because HPU_STRICT_FLAGS is set)")
    for variable in found:
        _logger.warning("%s", variable)
