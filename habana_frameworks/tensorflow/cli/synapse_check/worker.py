"""Process that compiles the graphs of `hpu synapse-check`, because SynapseAI may crash or hang.

python -m habana_frameworks.tensorflow.cli.synapse_check.worker FD LIBRARY GENERATION PROGRAMS FIRST

Writes each step to the file descriptor FD as a JSON object in a line: {"library": …}, {"graph": …}, and {"error": …} if
the library cannot be used. "log_bytes" of each object is the size of the file stderr at this step. Exit code 0 unless
there is an error.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

from habana_frameworks.tensorflow import errors
from habana_frameworks.tensorflow._internal.native import c_api, plugin_library

_GRAPH = ("index", "stem", "type", "name", "plan", "reason")
_LIBRARY = ("path", "version", "profile", "generation", "target", "graphs")


def main(arguments: list[str]) -> int:
    """Runs the check and returns the exit code."""
    steps = os.fdopen(int(arguments[0]), "w", buffering=1)
    library, generation, programs = (text.encode() for text in arguments[1:4])

    def write(step: dict[str, Any]) -> None:
        print(json.dumps({**step, "log_bytes": os.fstat(sys.stderr.fileno()).st_size}), file=steps)

    try:
        plugin_library.load_alone()
        plugin = plugin_library.handle()

        @c_api.StepCallback
        def on_step(data: int, size: int) -> None:
            write(_as_json(c_api.parse("SynapseCheckStep", ctypes.string_at(data, size))))

        first = int(arguments[4])
        code, message = c_api.outcome(plugin, "hpu_synapse_check", library, generation, programs, first, on_step)
    except errors.HabanaModuleError as error:
        code, message = 1, str(error).encode()
    if code != 0:
        write({"error": message.decode(errors="replace")})
    return int(code != 0)


def _as_json(step: Any) -> dict[str, Any]:
    """Converts a SynapseCheckStep."""
    if step.WhichOneof("step") == "library":
        library = {name: getattr(step.library, name) for name in _LIBRARY}
        return {"library": {**library, "missing_functions": list(step.library.missing_functions)}}
    graph = {name: getattr(step.graph, name) for name in _GRAPH}
    return {"graph": {**graph, "outcome": type(step.graph).Outcome.Name(step.graph.outcome)}}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
