"""Gaudi2 decodes images itself; elsewhere programs fall back to tf.data, which is what happens here."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

__all__ = ["habana_imagenet_dataset"]

_logger = logging.getLogger(__name__)


def habana_imagenet_dataset(fallback: Callable[..., Any], **arguments: Any) -> Any:
    """The dataset that fallback(...) makes: this package has no media loader.

    arguments: what the program says of its data, for a media loader (`jpeg_data_dir`, `img_size`, …) or for the
        fallback, which gets those that it has parameters for; `tf_data_dir` as `data_dir` where it has that one.
        Returns what the fallback returns. TypeError if a parameter that it needs is missing.
    """
    if arguments.get("jpeg_data_dir"):
        _logger.info("no media loader: the dataset is read by %s", getattr(fallback, "__name__", fallback))
    parameters = inspect.signature(fallback).parameters
    if "data_dir" in parameters and "tf_data_dir" not in parameters and "tf_data_dir" in arguments:
        arguments.setdefault("data_dir", arguments.pop("tf_data_dir"))
    if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        arguments = {name: value for name, value in arguments.items() if name in parameters}
    return fallback(**arguments)
