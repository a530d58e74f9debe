"""The messages of proto/hpu/report/v1/report.proto."""

from __future__ import annotations

from typing import Any

from habana_frameworks.tensorflow._internal.messages import descriptors

_CONTENTS = descriptors.contents("hpu/report/v1/report.proto")


def __getattr__(name: str) -> Any:
    try:
        return _CONTENTS[name]
    except KeyError:
        raise AttributeError(f"report.proto has no {name}") from None
