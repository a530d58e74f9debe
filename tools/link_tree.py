"""Installs this tree into the running virtual environment: a .pth file and the command `hpu`."""

from __future__ import annotations

import pathlib
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOOK = ROOT / "tools" / "hpu_tensorflow.pth"
COMMAND = """#!{python}
import sys

from habana_frameworks.tensorflow.cli import main

sys.exit(main())
"""


def main() -> int:
    """Writes the .pth file and the command. Fails outside a virtual environment."""
    if sys.prefix == sys.base_prefix:
        print(f"{sys.executable} is not in a virtual environment: python -m venv .venv", file=sys.stderr)
        return 1
    pathlib.Path(sysconfig.get_path("purelib"), "hpu_tensorflow.pth").write_text(f"{ROOT}\n{HOOK.read_text()}")
    command = pathlib.Path(sysconfig.get_path("scripts"), "hpu")
    command.write_text(COMMAND.format(python=sys.executable))
    command.chmod(0o755)
    return 0


if __name__ == "__main__":
    sys.exit(main())
