"""Check of GC_KERNEL_PATH, the libraries from which SynapseAI loads its kernels."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level

_SUBJECT = "kernel libraries"
# SynapseAI ignores further libraries.
_MAX_LIBRARIES = 15
_SET = "export GC_KERNEL_PATH=/usr/lib/habanalabs/libtpc_kernels.so"


def check() -> Iterator[Finding]:
    """Checks that the list names existing files."""
    paths = [path for path in flags.gc_kernel_path().split(":") if path]
    data = {"paths": paths}
    if not paths:
        text = "GC_KERNEL_PATH is not set, so SynapseAI may have no kernels"
        yield Finding(_SUBJECT, Level.WARNING, text, _SET, data)
        return
    absent = [path for path in paths if not pathlib.Path(path).is_file()]
    if absent:
        text = f"GC_KERNEL_PATH lists {', '.join(absent)}, but no such file exists"
        yield Finding(_SUBJECT, Level.ERROR, text, _SET, data)
    elif len(paths) > _MAX_LIBRARIES:
        text = f"GC_KERNEL_PATH lists {len(paths)} libraries; SynapseAI reads the first {_MAX_LIBRARIES}"
        yield Finding(_SUBJECT, Level.WARNING, text, "remove libraries from the list", data)
    else:
        yield Finding(_SUBJECT, Level.OK, ", ".join(paths), data=data)
