"""Settings for runs that compile in advance what the mode auto uses later."""

from __future__ import annotations

from habana_frameworks.tensorflow import flags


def settings() -> dict[str, str]:
    """Returns environment variables that let sizes that change share bounded recipes, if HPU_COMPILE_MODE is auto.

    Later runs in the mode auto use these recipes (docs/tuning/compile_modes.md). Other modes compile each shape.
    """
    return {"TF_ENABLE_DYNAMIC_SHAPES": "1"} if flags.compile_mode() is flags.CompileMode.AUTO else {}
