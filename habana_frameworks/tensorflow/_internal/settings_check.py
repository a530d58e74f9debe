"""What is said of the environment before the plugin reads its settings from it."""

from __future__ import annotations

import logging
import os
import sys

from habana_frameworks.tensorflow import errors, flags
from habana_frameworks.tensorflow._internal import flag_values

_logger = logging.getLogger(__name__)
# TensorFlow has the second one since 1.15; Gaudi's guide writes the first.
_OLD_VLOG, _VLOG = "TF_CPP_MIN_VLOG_LEVEL", "TF_CPP_MAX_VLOG_LEVEL"


def translate_vlog_level() -> None:
    """Gives TensorFlow the level of its verbose log under the name that it reads, and says so."""
    level = flags.tf_cpp_min_vlog_level()
    if level == 0 or _VLOG in os.environ:
        return
    # TensorFlow's own libraries read it once, while they are imported; the plugin reads it at its first message.
    reach = "the HPU plugin's messages, for TensorFlow was imported before" if "tensorflow" in sys.modules else "all"
    _logger.warning("TensorFlow reads %s, not %s: set to %d, which reaches %s", _VLOG, _OLD_VLOG, level, reach)
    os.environ[_VLOG] = str(level)


def report_unknown_settings() -> None:
    """Warns of variables that look like settings and are none; HPU_STRICT_FLAGS makes HPU_ ones an error."""
    found = flag_values.unknown(flags.ALL, os.environ)
    ours = [variable for variable in found if variable.name.startswith("HPU_")]
    if ours and flags.strict_flags():
        listed = "; ".join(map(str, ours))
        raise errors.SettingError(
            f"{listed} (an error because HPU_STRICT_FLAGS is set; the settings are in docs/user/settings.md)"
        )
    for variable in found:
        _logger.warning("%s", variable)
