"""Runs a Containerfile's steps in a folder with a bare Debian, by chroot, where no container engine is at hand.

Supports RUN, COPY, WORKDIR, ENV, USER and CMD. Needs root. Mounts are in a namespace that ends with the steps.
"""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import subprocess
from collections.abc import Iterator, Sequence

Instructions = Sequence[tuple[str, str]]
# Shared with the system of this machine, for devices, name resolution, and pip's certificates and packages.
_MOUNTS = ("/proc", "/dev", "/sys", "/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs", "/etc/pip.conf", "/opt")


def bare_debian(folder: pathlib.Path) -> None:
    """Stands for `FROM debian:12`."""
    command = ["debootstrap", "--variant=minbase", "bookworm", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=1800)


def build(folder: pathlib.Path, context: pathlib.Path, instructions: Instructions) -> None:
    """Runs the instructions behind FROM. Raises CalledProcessError if a step fails."""
    _run(folder, list(_steps(folder, context, instructions)))


def run(folder: pathlib.Path, instructions: Instructions, command: Sequence[str] = ()) -> str:
    """Runs a command as `docker run` does, by default the image's, and returns its output."""
    settings = [step for step in instructions if step[0] in ("WORKDIR", "ENV", "USER", "CMD")]
    (default,) = [json.loads(arguments) for name, arguments in settings if name == "CMD"]
    return _run(folder, list(_steps(folder, folder, [*settings, ("RUN", shlex.join(command or default))])))


def _steps(folder: pathlib.Path, context: pathlib.Path, instructions: Instructions) -> Iterator[str]:
    """Yields a line of shell for each instruction."""
    directory, user, variables = "/", "root", {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    variables.update({name: value for name, value in os.environ.items() if name.startswith("PIP_")})
    for name, arguments in instructions:
        if name == "RUN":
            settings = [f"{variable}={value}" for variable, value in variables.items()]
            inside = shlex.join(["sh", "-c", f"cd {directory} && {arguments}"])
            identity = "" if user == "root" else f"setpriv --reuid {user} --regid {user} --clear-groups "
            yield f"chroot {folder} env -i {shlex.join(settings)} {identity}{inside}"
        elif name == "COPY":
            *sources, target = arguments.split()
            place = f"{folder}{target if target.startswith('/') else f'{directory}/{target}'}"
            if len(sources) == 1 and (context / sources[0]).is_dir():
                yield f"mkdir -p {place} && cp -r {context}/{sources[0]}/. {place}"
            else:
                yield f"mkdir -p {place} && cp {' '.join(f'{context}/{source}' for source in sources)} {place}"
        elif name == "WORKDIR":
            directory = arguments
            yield f"mkdir -p {folder}{directory}"
        elif name == "ENV":
            variable, _, value = arguments.partition("=")
            variables[variable] = value
        elif name == "USER":
            user = arguments
        elif name not in ("CMD", "FROM"):
            raise ValueError(f"unsupported instruction: {name} {arguments}")


def _run(folder: pathlib.Path, lines: list[str]) -> str:
    mounts = []
    for path in filter(os.path.exists, _MOUNTS):
        make = "mkdir -p" if pathlib.Path(path).is_dir() else "touch"
        mounts.append(f"{make} {folder}{path} && mount --rbind {path} {folder}{path}")
    script = "\n".join(["set -eu", *mounts, *lines])
    command = ["unshare", "--mount", "--propagation", "private", "bash", "-c", script]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}")
    return done.stdout
