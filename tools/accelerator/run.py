"""Unpacks the accelerator kit and runs its checks. A single file, which needs only Python 3.10.

python3 run.py unpack    # verifies and unpacks the pieces next to this file; repeat as more pieces arrive
python3 run.py check     # unpacks the rest, runs checks without a result, writes results.json and results.md

docs/developer/accelerator_kit.md describes the checks.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

MANIFEST = "manifest.json"
# PAX header of an archive member with a part of a file: offset of the part in the file, in bytes.
OFFSET = "HPU.offset"
FORMAT = 1

GOOD, FAILED, USAGE, INCOMPLETE = 0, 1, 2, 3

PASSED, SKIPPED, RUNNING, TIMED_OUT, NOT_RUN = "passed", "skipped", "running", "timed out", "not run"
# Results are right, but a figure exceeds the project's limit.
OVER = "over the limit"
# Seconds between SIGTERM and SIGKILL for a check that exceeds its time limit.
_GRACE_SECONDS = 5
# Limit of attempts for a check that never ended, because the check may have crashed the machine.
_MAX_ATTEMPTS = 2
_LOG_TAIL = 3000


class KitError(Exception):
    """The kit is damaged or does not match, or the usage is wrong."""


# --- pieces ---


@dataclasses.dataclass(frozen=True)
class Piece:
    """One archive of the kit."""

    name: str
    bytes: int
    sha256: str
    optional: bool = False


@dataclasses.dataclass(frozen=True)
class Manifest:
    """Pieces of the kit. `about` contains versions, and the oldest glibc on which the kit's programs run."""

    pieces: tuple[Piece, ...]
    about: dict[str, str]

    @classmethod
    def read(cls, path: pathlib.Path) -> Manifest:
        try:
            data = json.loads(path.read_text())
        except FileNotFoundError:
            raise KitError(f"no manifest at {path}: pass --pieces DIR") from None
        except ValueError as error:
            raise KitError(f"{path} is damaged: {error}; copy it again") from None
        if data.get("format") != FORMAT:
            raise KitError(
                f"{path} has format {data.get('format')}, but this run.py reads format {FORMAT}: use the kit's run.py"
            )
        return cls(tuple(Piece(**piece) for piece in data["pieces"]), data["about"])

    def as_json(self) -> str:
        data = {"format": FORMAT, "about": self.about, "pieces": [dataclasses.asdict(piece) for piece in self.pieces]}
        return json.dumps(data, indent=2) + "\n"


@dataclasses.dataclass
class Unpacked:
    """Result of an unpacking."""

    added: list[str] = dataclasses.field(default_factory=list)
    missing: list[str] = dataclasses.field(default_factory=list)
    """Required pieces that have not arrived yet."""
    damaged: dict[str, str] = dataclasses.field(default_factory=dict)
    """Reasons by damaged piece."""

    @property
    def exit_code(self) -> int:
        return FAILED if self.damaged else INCOMPLETE if self.missing else GOOD


def sha256_of(path: pathlib.Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()


def unpack(pieces: pathlib.Path, kit: pathlib.Path) -> Unpacked:
    """Unpacks new pieces of the folder `pieces` into `kit`. Raises KitError if `kit` contains another kit."""
    state = kit / "unpacked.json"
    done: dict[str, str] = json.loads(state.read_text()) if state.exists() else {}
    result = Unpacked()
    for piece in Manifest.read(pieces / MANIFEST).pieces:
        if piece.name in done:
            if done[piece.name] != piece.sha256:
                raise KitError(f"{kit} contains {piece.name} of another kit: remove {kit}, or pass another --kit")
            continue
        path = pieces / piece.name
        if not path.exists():
            if not piece.optional:
                result.missing.append(piece.name)
            continue
        if problem := _damage(path, piece):
            result.damaged[piece.name] = problem
            continue
        kit.mkdir(parents=True, exist_ok=True)
        with tarfile.open(path, "r:xz") as archive:
            for member in archive:
                _extract(archive, member, kit)
        done[piece.name] = piece.sha256
        _write(state, json.dumps(done, indent=2))
        result.added.append(piece.name)
    return result


def _damage(path: pathlib.Path, piece: Piece) -> str:
    """Describes how the file differs from the manifest; empty if both agree."""
    if (size := path.stat().st_size) != piece.bytes:
        return f"{size} bytes, expected {piece.bytes}: copy it again"
    if (digest := sha256_of(path)) != piece.sha256:
        return f"SHA-256 {digest}, expected {piece.sha256}: copy it again"
    return ""


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, kit: pathlib.Path) -> None:
    """Extracts a member into the kit. A member with the header HPU.offset is the part of a file at this offset."""
    name = pathlib.PurePosixPath(member.name)
    source = archive.extractfile(member)
    if not member.isfile() or source is None or name.is_absolute() or ".." in name.parts:
        raise KitError(f"illegal entry in the archive: {member.name}; copy the pieces again")
    path = kit / name
    path.parent.mkdir(parents=True, exist_ok=True)
    offset = member.pax_headers.get(OFFSET)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if offset is None else 0), 0o666)
    with os.fdopen(descriptor, "wb") as file:
        file.seek(int(offset or 0))
        shutil.copyfileobj(source, file, 1 << 20)
    path.chmod(0o755 if member.mode & 0o100 else 0o644)


def _write(path: pathlib.Path, text: str) -> None:
    """Replaces a file atomically, so that no reader sees a partial file."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text)
    temporary.replace(path)


# --- checks ---


@dataclasses.dataclass(frozen=True)
class Check:
    """A program of the kit, which runs in its own process and writes its result to a file."""

    name: str
    subject: str
    command: tuple[str, ...]
    """Module below tools.accelerator.checks, and its arguments."""
    limit: float
    """Time limit in seconds, after which the check is killed."""
    typical: float = 30
    """Usual run time in seconds. The check does not start if less time is left."""


MODELS = ("resnet50", "transformer", "bert_small", "lstm")
# Batch sizes of the speed check: one that keeps a card busy, and the small one of the benchmarks.
BATCHES = {"resnet50": (256, 8), "transformer": (1024, 16), "bert_small": (256, 4), "lstm": (1024, 16)}
PROGRAMS = ("mlp", "cnn", "lstm", "unet", "transformer", "bert_small", "resnet50", "mobilenet")
# Models whose recipes the kit contains.
RECIPE_MODELS = ("mlp", "cnn", "transformer")
OTHER_PROGRAMS = ("control_flow", "linear_algebra", "products", "convolutions", "elementary", "sorts")


def all_checks() -> tuple[Check, ...]:
    """Returns the checks in the order in which they run."""
    checks = [
        Check("client", "client library and the plugin", ("gtests", "client"), 120, 10),
        Check("conformance", "conformance suite of the device interface", ("gtests", "conformance"), 300, 60),
    ]
    for name in (*OTHER_PROGRAMS, *PROGRAMS):
        checks.append(Check(f"numerics:{name}", "recorded programs", ("numerics", name), 180))
    checks += [
        Check("launches", "launch overhead", ("launches",), 150, 90),
        *(
            Check(f"recipes:{model}", "recipes compiled without the card", ("recipes", model), 120, 20)
            for model in RECIPE_MODELS
        ),
        Check("out_of_memory", "out of device memory", ("out_of_memory",), 120),
        Check("train:digits", "training", ("digits",), 150),
    ]
    for precision in ("float32", "bfloat16"):
        for model in MODELS:
            checks.append(Check(f"train:{model}:{precision}", "training", ("training", model, precision), 240, 45))
    for number in range(2):
        for model in MODELS:
            batch = BATCHES[model][number]
            name = f"speed:{model}:{batch}"
            checks.append(Check(name, "speed beside JAX", ("speed", model, str(batch)), 240, 60))
    checks += [
        Check("memory", "memory during training", ("memory",), 120),
        Check("profiler", "profiler", ("profiler",), 120),
        Check("commands", "hpu doctor and hpu smi", ("commands",), 120),
        Check("collectives", "all-reduce between two cards", ("collectives",), 240, 60),
    ]
    return tuple(checks)


@dataclasses.dataclass(frozen=True)
class Kit:
    """An unpacked kit, with the environment and command line of its programs."""

    directory: pathlib.Path
    backend: str
    environment: Mapping[str, str]
    """Environment of this process, in which JAX runs."""

    @property
    def python(self) -> pathlib.Path:
        return self.directory / "python" / "bin" / "python3.11"

    @property
    def packages(self) -> pathlib.Path:
        return self.directory / "python" / "lib" / "python3.11" / "site-packages"

    def variables(self, scratch: pathlib.Path) -> dict[str, str]:
        """Returns the environment of a check."""
        variables = {k: v for k, v in self.environment.items() if not k.startswith(("PYTHON", "CTS_"))}
        libraries = [str(self.directory / "lib"), str(self.packages / "tensorflow")]
        if before := variables.get("LD_LIBRARY_PATH"):
            libraries.append(before)
        (scratch / "target_environment.json").write_text(json.dumps(dict(self.environment)))
        return variables | {
            "HOME": str(scratch),
            "HPU_BACKEND": self.backend,
            "HPU_MODULE_LOCK_DIR": str(scratch / "locks"),
            "KIT_DIRECTORY": str(self.directory),
            "KIT_RESULT": str(scratch / "result.json"),
            "KIT_TARGET_ENVIRONMENT": str(scratch / "target_environment.json"),
            "KIT_TARGET_PYTHON": sys.executable,
            "LD_LIBRARY_PATH": ":".join(libraries),
            "PYTHONNOUSERSITE": "1",
            "PYTHONPATH": str(self.directory / "tree"),
            "PYTHONUNBUFFERED": "1",
            "TF_CPP_MIN_LOG_LEVEL": variables.get("TF_CPP_MIN_LOG_LEVEL", "1"),
        }

    def command(self, check: Check) -> list[str]:
        module, *arguments = check.command
        return [str(self.python), "-m", f"tools.accelerator.checks.{module}", *arguments]


# Paths of plugins in a folder of Python packages; same table as in plugin/backends/pjrt/plugin_file.cc.
PLUGINS = {
    "cuda": ("jax_plugins/xla_cuda13/xla_cuda_plugin.so", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"),
    "cpu": ("lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"),
}


def find_plugin(backend: str, kit: pathlib.Path) -> str:
    """Returns `backend` with the path of its plugin, from the kit or else from this Python's packages.

    Raises KitError if no plugin is found.
    """
    if not backend.startswith("pjrt:"):
        raise KitError(f"--backend {backend}: expected pjrt:cuda, pjrt:cpu, or pjrt:/path/of/the/plugin.so")
    name = backend.removeprefix("pjrt:")
    if "/" in name:
        if not pathlib.Path(name).exists():
            raise KitError(f"--backend {backend}: {name} does not exist; correct the path")
        return f"pjrt:{pathlib.Path(name).resolve()}"
    files = PLUGINS.get(name)
    if files is None:
        raise KitError(f"--backend {backend}: not a known plugin; expected cuda, cpu, or a path")
    folders = [kit / "python" / "lib" / "python3.11" / "site-packages", pathlib.Path(sysconfig.get_path("purelib"))]
    folders += [pathlib.Path(entry) for entry in sys.path if entry]
    for file in files:
        for folder in folders:
            if (folder / file).exists():
                return f"pjrt:{folder / file}"
    raise KitError(
        f"--backend {backend}: no {' or '.join(files)} in the kit or in the packages of {sys.executable}; "
        "run run.py with the Python that has the plugin, or pass --backend pjrt:/path/of/the/plugin.so"
    )


@dataclasses.dataclass
class Result:
    """Result of a check. `status`: passed, over the limit, failed, crashed, timed out, skipped, or running."""

    status: str
    summary: str = ""
    seconds: float = 0
    values: dict[str, Any] = dataclasses.field(default_factory=dict)
    attempts: int = 1
    log: str = ""
    """End of the output, unless all results are right."""


def run_check(
    command: Sequence[str], environment: Mapping[str, str], result: pathlib.Path, log: pathlib.Path, limit: float
) -> Result:
    """Runs a command in a session of its own, and kills all its processes after `limit` seconds."""
    result.unlink(missing_ok=True)
    begin = time.monotonic()
    timed_out = False
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            cwd=result.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            timed_out = True
            _signal(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)
        finally:
            _signal(process.pid, signal.SIGKILL)  # processes that the check left running
            code = process.wait()
    seconds = round(time.monotonic() - begin, 1)
    tail = log.read_bytes()[-_LOG_TAIL:].decode(errors="replace")
    try:
        written = json.loads(result.read_text())
    except (FileNotFoundError, ValueError):
        written = {}
    status, summary, values = written.get("status", ""), written.get("summary", ""), written.get("values", {})
    if timed_out:
        return Result(TIMED_OUT, f"killed after {seconds:g} s", seconds, values, log=tail)
    if code < 0:
        name = signal.Signals(-code).name
        return Result("crashed", f"{name}; {summary or last_line(tail)}", seconds, values, log=tail)
    if code != 0 or not status:
        problem = f"exit code {code}" if code else "no result"
        return Result("failed", f"{problem}: {last_line(tail)}", seconds, values, log=tail)
    return Result(status, summary, seconds, values, log="" if status in (PASSED, OVER, SKIPPED) else tail)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no output"


# --- results ---


@dataclasses.dataclass
class Results:
    """Results of all checks so far. `path` is the JSON file; the Markdown file is next to it."""

    path: pathlib.Path
    backend: str
    machine: dict[str, str]
    checks: dict[str, Result] = dataclasses.field(default_factory=dict)

    @classmethod
    def open(cls, path: pathlib.Path, backend: str, machine: dict[str, str]) -> Results:
        """Continues the results in `path`. Raises KitError if the results are of another backend."""
        if not path.exists():
            return cls(path, backend, machine)
        data = json.loads(path.read_text())
        if data["backend"] != backend:
            raise KitError(f"{path} contains results of {data['backend']}, not {backend}: pass another --results")
        return cls(path, backend, machine, {name: Result(**result) for name, result in data["checks"].items()})

    def is_done(self, name: str) -> bool:
        result = self.checks.get(name)
        return result is not None and (result.status != RUNNING or result.attempts >= _MAX_ATTEMPTS)

    def write(self, checks: Sequence[Check]) -> None:
        """Writes both files. Checks without a result are listed as not run."""
        data = {"backend": self.backend, "machine": self.machine}
        data["checks"] = {name: dataclasses.asdict(result) for name, result in self.checks.items()}  # type: ignore[assignment]
        data["not_run"] = [check.name for check in checks if check.name not in self.checks]  # type: ignore[assignment]
        _write(self.path, json.dumps(data, indent=2) + "\n")
        _write(self.path.with_suffix(".md"), self.markdown(checks))

    def markdown(self, checks: Sequence[Check]) -> str:
        lines = ["# Checks on an accelerator", "", f"Backend: `{self.backend}`", ""]
        lines += [f"- {name}: {value}" for name, value in self.machine.items()]
        lines += ["", "| check | result | time | |", "|---|---|---|---|"]
        for check in checks:
            result = self.checks.get(check.name, Result(NOT_RUN, "no time left"))
            seconds = f"{result.seconds:.0f} s" if result.status != NOT_RUN else ""
            status = "interrupted" if result.status == RUNNING else result.status
            status = status if result.status in (PASSED, SKIPPED) else f"**{status}**"
            lines.append(f"| {check.name} | {status} | {seconds} | {_cell(result.summary)} |")
        for check in checks:
            found = self.checks.get(check.name)
            if found is not None and (found.values or found.log):
                lines += ["", f"## {check.name}: {check.subject}", "", *_table(found.values)]
                if found.log:
                    lines += ["", "```", found.log.replace("```", "'''").rstrip(), "```"]
        return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(_cell(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_cell(one)}" for name, one in value.items())
    return str(value).replace("|", "\\|").replace("\n", " ")


def _table(values: Mapping[str, Any]) -> list[str]:
    if not values:
        return []
    return ["| | |", "|---|---|", *(f"| {_cell(name)} | {_cell(value)} |" for name, value in values.items())]


def describe_machine(about: Mapping[str, str]) -> dict[str, str]:
    """Returns facts about this machine and the kit."""
    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    driver = next(iter(_lines("/proc/driver/nvidia/version")), "none")
    glibc = os.confstr("CS_GNU_LIBC_VERSION") or "unknown"
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": f"{model}, {len(os.sched_getaffinity(0))} available",
        "driver": driver,
        "C library": glibc,
        "Python of the machine": platform.python_version(),
        **{f"kit: {name}": value for name, value in about.items()},
    }


def _lines(path: str) -> list[str]:
    try:
        return pathlib.Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return []


def check_glibc(about: Mapping[str, str]) -> None:
    """Raises KitError if this machine's glibc is older than the kit requires."""
    have, needed = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()[-1:], about.get("glibc", "0")
    if have and _version(have[0]) < _version(needed):
        raise KitError(f"the kit needs glibc {needed}, this machine has {have[0]}: pack the kit on an older system")


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def run_checks(
    kit: Kit, results: Results, checks: Sequence[Check], budget: float, chosen: Callable[[Check], bool]
) -> None:
    """Runs the chosen checks without a result, while the rest of `budget` (seconds) suffices."""
    end = time.monotonic() + budget
    logs = results.path.parent / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    for check in checks:
        if results.is_done(check.name) or not chosen(check):
            continue
        left = end - time.monotonic()
        if left < check.typical:
            print(f"{check.name}: {NOT_RUN}: no time left", file=sys.stderr)
            continue
        attempts = results.checks[check.name].attempts + 1 if check.name in results.checks else 1
        results.checks[check.name] = Result(RUNNING, "did not end", attempts=attempts)
        results.write(checks)
        with tempfile.TemporaryDirectory(prefix="hpu-kit-") as scratch:
            environment = kit.variables(pathlib.Path(scratch))
            log = logs / f"{check.name.replace(':', '-')}.log"
            limit = min(check.limit, left)
            result = run_check(kit.command(check), environment, pathlib.Path(environment["KIT_RESULT"]), log, limit)
        if result.status == TIMED_OUT and limit < check.limit:  # the budget ended the check: the next call reruns it
            del results.checks[check.name]
            results.write(checks)
            print(f"{check.name}: {NOT_RUN}: no time left", file=sys.stderr)
            continue
        results.checks[check.name] = dataclasses.replace(result, attempts=attempts)
        results.write(checks)
        print(f"{check.name}: {result.status}, {result.seconds:.0f} s: {result.summary}", file=sys.stderr)


# --- command line ---


def _parser() -> argparse.ArgumentParser:
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    unpacking = commands.add_parser("unpack", help="verify and unpack the pieces that have arrived")
    checking = commands.add_parser("check", help="unpack the rest and run the checks")
    for command in (unpacking, checking):
        command.add_argument(
            "--pieces",
            type=pathlib.Path,
            default=here,
            metavar="DIR",
            help="folder of the pieces (default: the folder of run.py)",
        )
        command.add_argument(
            "--kit",
            type=pathlib.Path,
            default=here / "kit",
            metavar="DIR",
            help="folder of the unpacked kit (default: kit)",
        )
        command.add_argument("--json", action="store_true", help="print one JSON object for programs")
    checking.add_argument(
        "--backend", default="pjrt:cuda", help="pjrt:cuda (default), pjrt:cpu, or pjrt:/path/of/the/plugin.so"
    )
    checking.add_argument(
        "--budget", type=float, default=30, metavar="MINUTES", help="time limit of this call (default: 30)"
    )
    checking.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="run only these checks, or groups such as numerics"
    )
    checking.add_argument(
        "--again", nargs="+", default=[], metavar="NAME", help="discard the results of these checks first"
    )
    checking.add_argument(
        "--results",
        type=pathlib.Path,
        default=here / "results" / "results.json",
        help="file of the results (default: results/results.json)",
    )
    return parser


def _report_unpacked(result: Unpacked, as_json: bool) -> None:
    if as_json:
        print(json.dumps(dataclasses.asdict(result), indent=2))
        return
    for name in result.added:
        print(f"{name}: unpacked")
    for name, problem in result.damaged.items():
        print(f"{name}: damaged: {problem}", file=sys.stderr)
    if result.missing:
        print(f"missing: {', '.join(result.missing)}", file=sys.stderr)


def _is_named(check: Check, names: Sequence[str]) -> bool:
    return any(check.name == name or check.name.startswith(f"{name}:") for name in names)


def _check(arguments: argparse.Namespace) -> int:
    checks = all_checks()
    for name in [*arguments.only, *arguments.again]:
        if not any(_is_named(check, [name]) for check in checks):
            raise KitError(f"no check {name}; expected one of {', '.join(check.name for check in checks)}")
    unpacked = unpack(arguments.pieces, arguments.kit)
    if unpacked.exit_code != GOOD:
        _report_unpacked(unpacked, arguments.json)
        return unpacked.exit_code
    about = Manifest.read(arguments.pieces / MANIFEST).about
    check_glibc(about)
    backend = find_plugin(arguments.backend, arguments.kit.resolve())
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    results = Results.open(arguments.results, backend, describe_machine(about))
    for check in checks:
        if _is_named(check, arguments.again):
            results.checks.pop(check.name, None)
    kit = Kit(arguments.kit.resolve(), backend, dict(os.environ))

    def chosen(check: Check) -> bool:
        return not arguments.only or _is_named(check, arguments.only)

    run_checks(kit, results, checks, arguments.budget * 60, chosen)
    results.write(checks)
    if arguments.json:
        print(arguments.results.read_text())
    else:
        print(f"\n{results.path}\n{results.path.with_suffix('.md')}")
    if any(result.status not in (PASSED, SKIPPED) for result in results.checks.values()):
        return FAILED
    return GOOD if all(results.is_done(check.name) for check in checks if chosen(check)) else INCOMPLETE


def main(argv: Sequence[str] | None = None) -> int:
    """Exit codes.

    0: success; 1: damaged piece, failed check or figure over its limit; 2: wrong usage; 3: missing pieces or checks not
    run.
    """
    arguments = _parser().parse_args(argv)
    try:
        if arguments.command == "check":
            return _check(arguments)
        result = unpack(arguments.pieces, arguments.kit)
        _report_unpacked(result, arguments.json)
        return result.exit_code
    except KitError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return USAGE


if __name__ == "__main__":
    sys.exit(main())
