"""Cause and line of the error that ended a program, from TensorFlow's message and the traceback."""

from __future__ import annotations

import re
import traceback

from habana_frameworks.tensorflow._internal.program_files import is_of_program
from habana_frameworks.tensorflow.card_check.origins import Line

_FRAME = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<number>\d+)')
# Lines that say where an error occurred, not what it is.
_PLACE = re.compile(
    r"\s*(Graph execution error:?|in user code:|Detected at node .*|<stack traces unavailable>|"
    r"\d+ root error\(s\) found\.)?\s*$"
)
# The error in a message about code that AutoGraph has converted: after the frames, and indented like the frames.
_ERROR_OF_USER_CODE = re.compile(r"^    (?P<text>\w+: .+)$", re.MULTILINE)
_ROOT = re.compile(r"^\s*\(\d+\) [A-Z_]+:\s+")


def _message(error: BaseException) -> str:
    return str(getattr(error, "message", None) or error)


def cause(error: BaseException) -> str:
    """Returns the error's class and the line of its message that says what failed."""
    message = _message(error)
    if "in user code:" in message and (found := _ERROR_OF_USER_CODE.findall(message)):
        return str(found[-1])
    lines = [line for line in message.splitlines() if not _PLACE.match(line) and not _FRAME.match(line)]
    text = _ROOT.sub("", lines[0]).strip() if lines else ""
    return f"{type(error).__name__}: {text}"


def line(error: BaseException) -> Line | None:
    """Returns the program's innermost line: where TensorFlow says that it created the op, else where it raised."""
    lines = _message(error).splitlines()
    named = [(match["path"], int(match["number"])) for text in lines if (match := _FRAME.match(text))]
    raised = [(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]
    for frames in (named, raised):
        own = [frame for frame in frames if is_of_program(frame[0])]
        if own:
            return Line.of(*own[-1])
    return None
