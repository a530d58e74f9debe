"""KeyboardInterrupt from TensorFlow's C++ calls that fail while a signal is pending.

When a call fails, pybind11 creates the exception. This runs Python code, and therefore the handler of a pending SIGINT.
pybind11 reports the handler's KeyboardInterrupt as a RuntimeError.

The wrapper is the last frame of a failed call's traceback. TensorFlow and Keras hide their own frames except the last,
so tracebacks show the wrapper instead of the TensorFlow function that called it. Only a function without a Python frame
could avoid this. Commands that run a program leave the wrapper out (cli/program.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_REPLACED = "REPLACED BY KeyboardInterrupt"
# The calls that run functions, eager ops and Sessions, or wait for them.
_EAGER_CALLS = (
    "TFE_Py_Execute",
    "TFE_Py_ExecuteCancelable",
    "TFE_ContextSyncExecutors",
    "TFE_ExecutorWaitForAllPendingNodes",
)
_SESSION_CALLS = ("TF_SessionRun_wrapper", "TF_SessionPRun_wrapper", "TF_SessionRunCallable")


def install() -> None:
    """Makes the calls raise KeyboardInterrupt instead of pybind11's RuntimeError. Called by library_loader."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.client import pywrap_tf_session

    for module, names in ((pywrap_tfe, _EAGER_CALLS), (pywrap_tf_session, _SESSION_CALLS)):
        for name in names:
            setattr(module, name, raise_keyboard_interrupt(getattr(module, name)))


def raise_keyboard_interrupt(call: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps `call` to raise KeyboardInterrupt where pybind11 reports it as a RuntimeError."""

    @functools.wraps(call)
    def raising(*arguments: Any, **options: Any) -> Any:
        try:
            return call(*arguments, **options)
        except RuntimeError as error:
            if _REPLACED in str(error):
                raise KeyboardInterrupt from None
            raise

    return raising
