"""Path of the PJRT plugin for the CPU that the extra [pjrt-cpu] installs."""

from __future__ import annotations

import pathlib
import sysconfig

XLA = pathlib.Path(sysconfig.get_path("purelib"), "xla_plugins", "xla_cpu_pjrt", "xla_cpu_pjrt.so")
