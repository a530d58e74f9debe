"""The messages of proto/hpu/serve/v1/control.proto."""

from __future__ import annotations

from typing import Any

from habana_frameworks.tensorflow._internal.messages import descriptors

_CONTENTS = descriptors.contents("hpu/serve/v1/control.proto")


def __getattr__(name: str) -> Any:
    try:
        return _CONTENTS[name]
    except KeyError:
        raise AttributeError(f"control.proto has no {name}") from None
