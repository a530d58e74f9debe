"""Executes the steps of a Containerfile in a folder, on machines without a container engine. Root only.

debootstrap installs Debian in the folder. Commands run in it through chroot, with mount and process namespaces of their
own, and with the network of the machine. Nothing of the machine is mounted into the folder.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence

_SUITES = {"docker.io/library/debian:12": "bookworm"}
_MIRROR = "http://deb.debian.org/debian"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def missing() -> str:
    """Returns what this machine lacks for execute(); empty if nothing."""
    if os.geteuid() != 0:
        return "root"
    return next((tool for tool in ("debootstrap", "unshare", "chroot") if not shutil.which(tool)), "")


def instructions(path: pathlib.Path) -> list[tuple[str, str]]:
    """Returns name and arguments of each instruction. Continued lines are joined."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n", "", "\n".join(lines))
    return [(name, arguments) for name, _, arguments in (line.partition(" ") for line in joined.splitlines() if line)]


@dataclasses.dataclass
class Container:
    """A folder with an image's files, and the state that instructions change."""

    root: pathlib.Path
    environment: dict[str, str] = dataclasses.field(default_factory=lambda: {"PATH": _PATH, "HOME": "/root"})
    directory: str = "/"
    user: str = "root"
    command: list[str] = dataclasses.field(default_factory=list)

    def run(self, arguments: Sequence[str], timeout: float = 600) -> subprocess.CompletedProcess[str]:
        """Runs a program in the folder, with the instructions' user, directory and environment. It must succeed."""
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        inside = ["chroot", f"--userspec={self.user}", str(self.root), "/usr/bin/env", "-i", *variables]
        inside += ["sh", "-c", f"cd {shlex.quote(self.directory)} && exec {shlex.join(arguments)}"]
        # Container engines also mount these file systems. The mounts end with the namespace.
        proc, shared = (shlex.quote(str(self.root / name)) for name in ("proc", "dev/shm"))
        mounts = f"mount -t proc proc {proc} && mkdir -p {shared} && mount -t tmpfs -o mode=1777 tmpfs {shared}"
        script = f"{mounts} && exec {shlex.join(inside)}"
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, f"{shlex.join(arguments)}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done

    def path(self, inside: str) -> pathlib.Path:
        """Returns a path of the folder as this process sees it."""
        return self.root / pathlib.PurePosixPath(self.directory, inside).relative_to("/")

    def copy(self, context: pathlib.Path, arguments: str) -> None:
        """Executes COPY: copies files, and the contents of directories, into the destination."""
        *sources, destination = arguments.split()
        target = self.path(destination)
        for pattern in sources:
            found = [context] if pattern == "." else sorted(context.glob(pattern))
            assert found, f"COPY {pattern}: no such file"
            for source in found:
                if source.is_dir():
                    shutil.copytree(source, target, dirs_exist_ok=True)
                else:
                    target.mkdir(parents=True, exist_ok=True)
                    shutil.copy(source, target)


def execute(
    containerfile: pathlib.Path, context: pathlib.Path, root: pathlib.Path, build_environment: Mapping[str, str]
) -> Container:
    """Executes all instructions and returns the container. Raises AssertionError if a command fails.

    `build_environment`: variables of RUN commands, such as pip's.
    """
    container = Container(root)
    for name, arguments in instructions(containerfile):
        if name == "FROM":
            command = ["debootstrap", "--variant=minbase", _SUITES[arguments], str(root), _MIRROR]
            # The mounts that debootstrap makes end with its namespace.
            subprocess.run(["unshare", "--mount", *command], check=True, capture_output=True, timeout=1800)
        elif name == "RUN":
            environment = {**container.environment, **build_environment}
            dataclasses.replace(container, environment=environment).run(["sh", "-c", arguments], timeout=1800)
        elif name == "COPY":
            container.copy(context, arguments)
        elif name == "WORKDIR":
            container.directory = arguments
            container.path(".").mkdir(parents=True, exist_ok=True)
        elif name == "ENV":
            container.environment |= dict(item.split("=", 1) for item in shlex.split(arguments))
        elif name == "USER":
            container.user = arguments
            container.environment["HOME"] = f"/home/{arguments}"
        elif name == "CMD":
            container.command = json.loads(arguments)
        else:
            raise ValueError(f"{containerfile}: {name} is not executed here")
    return container
