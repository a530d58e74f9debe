"""Installs this tree into the running virtual environment: a .pth file and the commands of pyproject.toml."""

from __future__ import annotations

import pathlib
import re
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOOK = ROOT / "tools" / "hpu_tensorflow.pth"
COMMAND = """#!{python}
import sys

from {module} import {function}

sys.exit({function}())
"""


def main() -> int:
    """Writes the .pth file and the commands. Fails outside a virtual environment."""
    if sys.prefix == sys.base_prefix:
        print(f"{sys.executable} is not in a virtual environment: python -m venv .venv", file=sys.stderr)
        return 1
    pathlib.Path(sysconfig.get_path("purelib"), "hpu_tensorflow.pth").write_text(f"{ROOT}\n{HOOK.read_text()}")
    for name, module, function in commands():
        command = pathlib.Path(sysconfig.get_path("scripts"), name)
        command.write_text(COMMAND.format(python=sys.executable, module=module, function=function))
        command.chmod(0o755)
    return 0


def commands() -> list[tuple[str, str, str]]:
    """Name, module and function of each command in pyproject.toml. Python 3.9 and 3.10 have no TOML parser."""
    section = (ROOT / "pyproject.toml").read_text().partition("[project.scripts]")[2].partition("\n[")[0]
    return re.findall(r'^([\w-]+) = "([\w.]+):(\w+)"$', section, re.MULTILINE)


if __name__ == "__main__":
    sys.exit(main())
