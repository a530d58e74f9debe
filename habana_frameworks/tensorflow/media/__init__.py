"""Image datasets. Gaudi2 decodes images in hardware; this package uses the program's own pipelines."""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable
from typing import Any

__all__ = ["habana_imagenet_dataset"]

_logger = logging.getLogger(__name__)


def habana_imagenet_dataset(fallback: Callable[..., Any], **arguments: Any) -> Any:
    """Returns the dataset created by `fallback`, because this package has no media loader.

    arguments: options of a media loader (`jpeg_data_dir`, `img_size`, …) or of the fallback. The fallback receives the
        arguments for which it has parameters, or all arguments if it has **kwargs. `tf_data_dir` is passed as
        `data_dir` if the fallback has a parameter `data_dir`, but no `tf_data_dir`.

    Raises TypeError if a required argument of the fallback is missing.
    """
    if arguments.get("jpeg_data_dir"):
        _logger.info("no media loader is available: %s reads the dataset", getattr(fallback, "__name__", fallback))
    parameters = inspect.signature(fallback).parameters
    if "data_dir" in parameters and "tf_data_dir" not in parameters and "tf_data_dir" in arguments:
        arguments.setdefault("data_dir", arguments.pop("tf_data_dir"))
    if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        arguments = {name: value for name, value in arguments.items() if name in parameters}
    return fallback(**arguments)


def __getattr__(name: str) -> Any:
    """Imports a module of this package at first use."""
    if name in ("habana_dataset",):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
