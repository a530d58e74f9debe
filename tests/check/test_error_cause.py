"""Cause and line of the errors that end programs, from messages in TensorFlow's forms."""

from __future__ import annotations

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow.card_check import error_cause

NODE = f"""Graph execution error:

Detected at node f/floordiv defined at (most recent call last):
  File "/usr/bin/hpu", line 6, in <module>

  File "{__file__}", line 7, in f

2 root error(s) found.
  (0) INVALID_ARGUMENT:  Integer division by zero (FloorDiv)
\t [[{{{{node f/floordiv}}}}]]
  (1) INVALID_ARGUMENT:  Integer division by zero (FloorDiv)
0 successful operations."""
CONVERTED = f"""in user code:

    File "{__file__}", line 6, in f  *
        for i in tf.range(3):

    ValueError: 'x' has shape (4,) before the loop, but shape (8,) after one iteration.
"""


def raised(error: BaseException) -> BaseException:
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


@pytest.mark.parametrize(
    ("error", "cause", "line"),
    [
        (tf.errors.InvalidArgumentError(None, None, NODE), "Integer division by zero (FloorDiv)", 7),
        (tf.errors.NotFoundError(None, None, "\n\nno file x\n\t [[{{node a}}]]"), "no file x", None),
        (KeyError("x"), "'x'", None),
        (KeyError(), "", None),
    ],
)
def test_the_cause_is_what_failed(error: BaseException, cause: str, line: int | None) -> None:
    error = raised(error)
    assert error_cause.cause(error) == f"{type(error).__name__}: {cause}"
    found = error_cause.line(error)
    assert found is not None and found.path == __file__
    assert line is None or found.number == line


def test_errors_of_converted_code_name_the_users_line() -> None:
    error = raised(ValueError(CONVERTED))
    found = error_cause.line(error)
    assert error_cause.cause(error).startswith("ValueError: 'x' has shape (4,) before the loop")
    assert found is not None and (found.path, found.number) == (__file__, 6)
