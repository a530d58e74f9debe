"""Paths of the PJRT plugins for the CPU, if installed: XLA by the extra [pjrt-cpu], LAMMPS by `make test`."""

from __future__ import annotations

import pathlib
import sysconfig

_PACKAGES = pathlib.Path(sysconfig.get_path("purelib"))
XLA = _PACKAGES / "xla_plugins" / "xla_cpu_pjrt" / "xla_cpu_pjrt.so"
LAMMPS = _PACKAGES / "lammps_jax_pjrt_cpu" / "pjrt_c_api_cpu_plugin.so"
