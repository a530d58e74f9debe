"""pip commands that install PJRT plugins and their libraries (the extras of pyproject.toml)."""

from __future__ import annotations

from habana_frameworks.tensorflow import lib_utils


def install_plugin(name: str) -> str:
    """Returns the pip command for a plugin and its CUDA libraries. `name`: cpu, cuda, cuda12 or cuda13."""
    if name == "cuda":
        return f"{lib_utils.install_command('cuda13')} (cuda12 for a driver older than 580)"
    return lib_utils.install_command("pjrt-cpu" if name == "cpu" else name)
