"""Check of the CUDA libraries that a PJRT plugin opens at run time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from habana_frameworks.tensorflow._internal.pjrt_plugins import PluginFile
from habana_frameworks.tensorflow.cli.checks.finding import Finding, Level
from habana_frameworks.tensorflow.cli.checks.pjrt import extras, probing


@dataclasses.dataclass(frozen=True)
class Library:
    """A CUDA library, and the Python package that contains it."""

    name: str
    folder: str
    """In the folder of the package nvidia."""
    package: str
    is_required: bool = True
    """False for a library that only some programs need."""


# The libraries that jax_plugins/xla_cuda*/__init__.py loads.
_LIBRARIES = {
    12: (
        Library("libcudart.so.12", "cuda_runtime", "nvidia-cuda-runtime-cu12"),
        Library("libnvrtc.so.12", "cuda_nvrtc", "nvidia-cuda-nvrtc-cu12"),
        Library("libcublas.so.12", "cublas", "nvidia-cublas-cu12"),
        Library("libcublasLt.so.12", "cublas", "nvidia-cublas-cu12"),
        Library("libcusparse.so.12", "cusparse", "nvidia-cusparse-cu12"),
        Library("libcusolver.so.11", "cusolver", "nvidia-cusolver-cu12"),
        Library("libcufft.so.11", "cufft", "nvidia-cufft-cu12"),
        Library("libcudnn.so.9", "cudnn", "nvidia-cudnn-cu12"),
        Library("libnccl.so.2", "nccl", "nvidia-nccl-cu12", is_required=False),
        Library("libcupti.so.12", "cuda_cupti", "nvidia-cuda-cupti-cu12", is_required=False),
    ),
    13: (
        Library("libcudart.so.13", "cu13", "nvidia-cuda-runtime"),
        Library("libnvrtc.so.13", "cu13", "nvidia-cuda-nvrtc"),
        Library("libcublas.so.13", "cu13", "nvidia-cublas"),
        Library("libcublasLt.so.13", "cu13", "nvidia-cublas"),
        Library("libcusparse.so.12", "cu13", "nvidia-cusparse"),
        Library("libcusolver.so.12", "cu13", "nvidia-cusolver"),
        Library("libcufft.so.12", "cu13", "nvidia-cufft"),
        Library("libcudnn.so.9", "cudnn", "nvidia-cudnn-cu13"),
        Library("libnccl.so.2", "nccl", "nvidia-nccl-cu13", is_required=False),
        Library("libcupti.so.13", "cu13", "nvidia-cuda-cupti", is_required=False),
    ),
}


def check(file: PluginFile) -> Iterator[Finding]:
    """Searches each library next to the plugin's package, then in the loader's path."""
    needed = _LIBRARIES.get(file.cuda or 0)
    if needed is None:
        text = f"not checked, because the path {file.path} contains no known CUDA version"
        yield Finding("CUDA libraries", Level.NOTE, text)
        return
    # The plugin's RPATH: the package nvidia next to jax_plugins.
    beside = file.path.resolve().parent.parent.parent / "nvidia"
    elsewhere = [library for library in needed if not (beside / library.folder / "lib" / library.name).exists()]
    report, problem = probing.run("load", *(library.name for library in elsewhere)) if elsewhere else ({}, "")
    names = [library.name for library in elsewhere] if problem else report.get("missing", [])
    missing = [library for library in elsewhere if library.name in names]
    data = {"folder": str(beside), "missing": names}
    if not missing:
        yield Finding("CUDA libraries", Level.OK, f"CUDA {file.cuda}: all {len(needed)} found", data=data)
        return
    required = [library for library in missing if library.is_required]
    listed = ", ".join(f"{library.name} ({library.package})" for library in missing)
    text = f"missing in {beside} and in the loader's path: {listed}"
    if not required:
        text += "; only collectives (NCCL) and profiles (CUPTI) need them"
    level = Level.ERROR if required else Level.WARNING
    yield Finding("CUDA libraries", level, text, extras.install_plugin(f"cuda{file.cuda}"), data)
