"""`machines.py [--mpi] N program …`: starts a program on N fake machines, namespaces with a host name and an address.

Each rank gets TF_CONFIG, or with --mpi Open MPI's variables and HPU_HOROVOD_RENDEZVOUS. COMMAND runs this file in
namespaces that become the first machine. Exit code: the first nonzero exit code.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping

NAMESPACES = ("--net", "--uts", "--mount")
# Within a user namespace, any user may create the other namespaces.
_UNSHARE = ("unshare", "--map-root-user", *NAMESPACES, "--kill-child")
COMMAND = (*_UNSHARE, sys.executable, __file__)
PORT = 4242
BRIDGE = "machines"


def why_not() -> str:
    """Returns the reason why this machine cannot create such namespaces; empty if it can."""
    probe = "ip link add to1 type veth peer name to2"
    try:
        done = subprocess.run([*_UNSHARE, *probe.split()], capture_output=True, text=True, timeout=30)
    except FileNotFoundError as error:
        return f"{error.filename} is not installed"
    return done.stderr.strip() or "unshare fails" if done.returncode != 0 else ""


def address(machine: int) -> str:
    return f"10.77.0.{machine + 1}"


def _ip(arguments: str, *prefix: str) -> None:
    subprocess.run([*prefix, "ip", *arguments.split()], check=True)


def _begin_first(stack: contextlib.ExitStack, count: int) -> None:
    """Sets host name, address and /etc/hosts in this process's namespaces."""
    hosts = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()), "hosts")
    entries = [f"{address(machine)} machine-{machine}" for machine in range(count)]
    hosts.write_text("\n".join(["127.0.0.1 localhost", *entries, ""]))
    subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
    stack.callback(subprocess.run, ["umount", "/etc/hosts"], check=True)
    socket.sethostname("machine-0")
    for arguments in (
        "link set lo up",
        f"link add {BRIDGE} type bridge",
        f"address add {address(0)}/24 dev {BRIDGE}",
        f"link set {BRIDGE} up",
    ):
        _ip(arguments)


def _begin_other(stack: contextlib.ExitStack, machine: int) -> list[str]:
    """Starts another machine, which a sleeping process keeps alive. Returns the command prefix for the machine."""
    script = f"hostname machine-{machine} && echo ready && exec sleep infinity"
    holder = subprocess.Popen(["unshare", *NAMESPACES, "sh", "-c", script], stdout=subprocess.PIPE)
    stack.callback(holder.wait)
    stack.callback(holder.kill)
    assert holder.stdout is not None and holder.stdout.readline() == b"ready\n"
    inside = ["nsenter", "--target", str(holder.pid), *NAMESPACES]
    _ip(f"link add to{machine} type veth peer name eth0 netns {holder.pid}")
    _ip(f"link set to{machine} master {BRIDGE} up")
    for arguments in ("link set lo up", f"address add {address(machine)}/24 dev eth0", "link set eth0 up"):
        _ip(arguments, *inside)
    return inside


@contextlib.contextmanager
def machines(count: int) -> Iterator[list[list[str]]]:
    """Yields the command prefix for each machine. The first machine is this process's."""
    with contextlib.ExitStack() as stack:
        _begin_first(stack, count)
        yield [[], *(_begin_other(stack, machine) for machine in range(1, count))]


def _variables(rank: int, count: int, mpi: bool) -> Mapping[str, str]:
    if mpi:
        ranks = {"SIZE": count, "RANK": rank, "LOCAL_SIZE": 1, "LOCAL_RANK": 0}
        named = {f"OMPI_COMM_WORLD_{name}": str(value) for name, value in ranks.items()}
        return {**named, "HOROVOD_CONTROLLER": "gloo", "HPU_HOROVOD_RENDEZVOUS": f"{address(0)}:{PORT}"}
    workers = [f"{address(machine)}:{PORT}" for machine in range(count)]
    return {"TF_CONFIG": json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpi", action="store_true")
    parser.add_argument("count", type=int)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    with machines(arguments.count) as prefixes, tempfile.TemporaryDirectory() as directory:
        processes = []
        for rank, prefix in enumerate(prefixes):
            # Each machine has its own HPUs.
            modules = {"HPU_MODULE_LOCK_DIR": f"{directory}/machine-{rank}", "HPU_MODULES": "1"}
            environment = {**os.environ, **modules, **_variables(rank, arguments.count, arguments.mpi)}
            processes.append(subprocess.Popen([*prefix, sys.executable, *arguments.program], env=environment))
        codes = [process.wait() for process in processes]
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
