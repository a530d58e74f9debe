"""Cost of a recipe: compiled, loaded from the local directory, or fetched from the remote cache.

python -m benchmarks.remote_cache [--model transformer] [--json]

Each alternative is a separate process, which trains for a second. The storages are a directory on this machine and an
HTTP server on its loopback interface, so the network costs nothing. `transfer` fetches with the transfer process alone;
the first fetch includes the start of the process.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import http.server
import json
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping

from benchmarks.compile_modes import Start
from benchmarks.models import PROBLEMS
from habana_frameworks.tensorflow.recipe_store.remote import transfer_process

TRANSFERS = 20


@dataclasses.dataclass(frozen=True)
class Transfer:
    """Times of fetching one entry with the transfer process, in seconds."""

    first: float
    """Includes the start of the process."""
    median: float


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        pathlib.Path(self.translate_path(self.path)).write_bytes(data)
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 (as the base class)
        """Suppresses the log."""


@contextlib.contextmanager
def serving(directory: pathlib.Path) -> Iterator[str]:
    """Serves the directory's files over HTTP and yields the URL."""

    def handler(*arguments: object) -> _Handler:
        return _Handler(*arguments, directory=str(directory))  # type: ignore[arg-type]

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def train(problem: str, environment: Mapping[str, str]) -> Start:
    """Measures the first steps of a new process."""
    command = [sys.executable, "-m", "benchmarks.compile_modes", "--model", problem, "--seconds", "1"]
    command += ["--child", "/device:HPU:0"]
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True)
    return Start(**json.loads(done.stdout.splitlines()[-1]))


def transfer(url: str, key_file: pathlib.Path, name: str) -> Transfer:
    """Fetches an entry repeatedly."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-I", transfer_process.__file__, f"--parent={os.getpid()}", f"--url={url}"]
    command += [f"--key-file={key_file}", "--token-file=", "--timeout=60"]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdin=theirs.fileno())
    theirs.close()
    times = []
    with ours, ours.makefile("rb") as replies:
        for _ in range(TRANSFERS):
            ours.sendall(f"get {name} 0\n".encode())
            outcome, size = replies.readline().decode().split()
            replies.read(int(size))
            assert outcome == "found"
            times.append(time.perf_counter() - begin)
            begin = time.perf_counter()
    process.wait()
    return Transfer(times[0], sorted(times[1:])[len(times) // 2])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=PROBLEMS, default="transformer")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        base = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        storage, key_file = base / "storage", base / "key"
        storage.mkdir()
        key_file.touch(0o600)
        key_file.write_bytes(secrets.token_bytes(32))
        urls = {"directory": storage.as_uri(), "http": stack.enter_context(serving(storage))}
        remote = {"HPU_RECIPE_CACHE_REMOTE_KEY_FILE": str(key_file)}
        variants = {
            "compiled": {"TF_RECIPE_CACHE_PATH": str(base / "first"), "HPU_RECIPE_CACHE_REMOTE": urls["directory"]},
            "local": {"TF_RECIPE_CACHE_PATH": str(base / "first")},
            **{
                kind: {"TF_RECIPE_CACHE_PATH": str(base / kind), "HPU_RECIPE_CACHE_REMOTE": url}
                for kind, url in urls.items()
            },
        }
        starts = {
            variant: train(arguments.model, {**remote, **environment}) for variant, environment in variants.items()
        }
        largest = max(storage.iterdir(), key=lambda path: path.stat().st_size)
        transfers = {kind: transfer(url, key_file, largest.name) for kind, url in urls.items()}
        largest_bytes = largest.stat().st_size
    if arguments.json:
        print(
            json.dumps(
                {
                    "cpus": os.cpu_count(),
                    "load": os.getloadavg(),
                    "largest_bytes": largest_bytes,
                    "seconds": {variant: start.loading for variant, start in starts.items()},
                    "compiled": {variant: start.compiled for variant, start in starts.items()},
                    "transfers": {kind: dataclasses.asdict(found) for kind, found in transfers.items()},
                },
                indent=2,
            )
        )
        return 0
    print(f"{arguments.model}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; entry of {largest_bytes} bytes")
    for variant, start in starts.items():
        print(f"  {variant:<10} {1000 * start.loading:9.1f} ms for the train step; {start.compiled} recipes compiled")
    for kind, found in transfers.items():
        print(f"  transfer by {kind}: {1000 * found.median:.1f} ms, first transfer {1000 * found.first:.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
