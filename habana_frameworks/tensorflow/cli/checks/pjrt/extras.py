"""pip commands that install PJRT plugins and their libraries (the extras of pyproject.toml)."""

from __future__ import annotations


def install_plugin(name: str) -> str:
    """Returns the pip command for a plugin and its CUDA libraries. `name`: cpu, cuda, cuda12 or cuda13."""
    if name == "cuda":
        return f"{_pip('cuda13')}, or cuda12 for a driver older than 580"
    return _pip("pjrt-cpu" if name == "cpu" else name)


def _pip(extra: str) -> str:
    return f'pip install "hpu-tensorflow[{extra}]"'
