"""Packs the accelerator kit, which checks the PJRT backend on a machine that has only a card, CUDA and JAX.

python -m tools.accelerator.pack --out DIR

Copy the files of DIR to that machine, in any order, and run `python3 run.py check` there
(docs/developer/accelerator_kit.md).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from habana_frameworks.tensorflow._internal import version
from tools.accelerator import contents, libraries, pieces, run
from tools.accelerator.pieces import Entry

_MB = 1_000_000
_CPU_PLUGINS = ("lammps-jax-pjrt-cpu",)
# Program whose recipes are compiled for the card, and its arguments after the model.
_RECIPE_PROGRAM, _RECIPE_ARGUMENTS = "benchmarks/steps.py", ("--optimizer", "sgd", "--steps", "3")


@dataclasses.dataclass
class Packed:
    """Result of a packing."""

    directory: str
    pieces: list[run.Piece] = dataclasses.field(default_factory=list)
    skipped: dict[str, str] = dataclasses.field(default_factory=dict)
    """Reasons by part that the kit lacks."""
    unpacked_bytes: int = 0
    seconds: float = 0

    @property
    def bytes(self) -> int:
        return sum(piece.bytes for piece in self.pieces)


@dataclasses.dataclass(frozen=True)
class Options:
    """Command line."""

    out: pathlib.Path
    build: pathlib.Path
    piece_bytes: int
    preset: int
    target: str
    cpu_plugin: bool
    corpus: pathlib.Path | None
    """Folder of a recorded corpus; None: record a corpus."""


def pack(options: Options) -> Packed:
    """Writes the pieces, the manifest and run.py. Raises ContentsError, LibraryError or CalledProcessError."""
    begin = time.monotonic()
    packed = Packed(str(options.out))
    options.out.mkdir(parents=True, exist_ok=True)
    for old in options.out.glob("*.tar.xz"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="hpu-pack-") as folder:
        scratch = pathlib.Path(folder)
        programs = contents.programs(options.build, scratch / "bin")
        names = [entry.name for entry in programs]
        for name in ("hpu_cts", "hpu_bench"):
            if f"bin/{name}" not in names:
                packed.skipped[name] = f"not in {options.build}"
        own = [*contents.tree(scratch / "built"), *programs]
        corpus = options.corpus or scratch / "corpus"
        if options.corpus is None:
            _run(["-m", "tools.accelerator.record", "--out", str(corpus)], {"HPU_BACKEND": "emulator"})
        own += _entries(corpus, "corpus")
        recipes, why_not = _recipes(options.target, scratch / "recipes" / "card")
        own += recipes
        if why_not:
            packed.skipped["recipes"] = why_not
        base = [*contents.interpreter(), *contents.packages()]
        base += contents.shared_libraries([*base, *own])
        groups = {"base": base, "kit": own}
        if options.cpu_plugin:
            groups["cpu-plugin"] = contents.plugin_packages(_CPU_PLUGINS)
            if groups["cpu-plugin"]:
                groups["cpu-plugin"] += _warm("pjrt:cpu", (), scratch / "recipes" / "cpu")
            else:
                packed.skipped["cpu-plugin"] = f"not installed: {', '.join(_CPU_PLUGINS)}"
        for group, entries in groups.items():
            optional = group == "cpu-plugin"
            packed.pieces += pieces.write(
                entries, options.out, group, options.piece_bytes, options.preset, optional=optional
            )
            packed.unpacked_bytes += sum(entry.source.stat().st_size for entry in entries)
        about = {
            "version": version.__version__,
            "TensorFlow": contents.tensorflow_version(),
            "Python": platform.python_version(),
            "glibc": libraries.glibc_of(entry.source for entry in [*own, *base] if _is_ours(entry)),
        }
    about |= {f"without {name}": reason for name, reason in packed.skipped.items()}
    (options.out / run.MANIFEST).write_text(run.Manifest(tuple(packed.pieces), about).as_json())
    shutil.copyfile(run.__file__, options.out / "run.py")
    packed.seconds = round(time.monotonic() - begin, 1)
    return packed


def _is_ours(entry: Entry) -> bool:
    """Whether the file was built here. Files of wheels require an older glibc, which their platform tag states."""
    is_binary = entry.executable or ".so" in pathlib.PurePosixPath(entry.name).name
    return is_binary and not entry.name.startswith(contents.PACKAGES)


def _recipes(target: str, folder: pathlib.Path) -> tuple[list[Entry], str]:
    """Compiles recipes for a card that is not present. Returns the recipes, or no recipes and the reason."""
    plugins = contents.cuda_plugins()
    if not plugins:
        return [], "no CUDA plugin: pip install --no-deps jax-cuda13-pjrt (or jax-cuda12-pjrt) of the card's version"
    entries: dict[str, Entry] = {}
    for plugin in plugins:
        try:
            found = _warm(f"pjrt:{plugin}", ("--target", target), folder)
        except subprocess.CalledProcessError as error:
            return [], f"hpu warmup --target {target} with {plugin}: {run.last_line(error.stdout)}"
        entries.update((entry.name, entry) for entry in found)
    return list(entries.values()), ""


def _warm(backend: str, options: Sequence[str], folder: pathlib.Path) -> list[Entry]:
    """Compiles the recipes of each model into its own folder. Raises CalledProcessError."""
    for model in run.RECIPE_MODELS:
        (folder / model).mkdir(parents=True, exist_ok=True)
        command = ["-m", "habana_frameworks.tensorflow", "warmup", *options, "--path", str(folder / model)]
        environment = {"HPU_BACKEND": backend, "HPU_RECIPE_CACHE_MIN_COMPILE_MS": "0"}
        _run([*command, _RECIPE_PROGRAM, model, *_RECIPE_ARGUMENTS], environment)
    return _entries(folder, f"recipes/{folder.name}")


def _entries(folder: pathlib.Path, name: str) -> list[Entry]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    return [Entry(f"{name}/{path.relative_to(folder).as_posix()}", path) for path in files]


def _run(arguments: Sequence[str], environment: dict[str, str]) -> None:
    """Runs Python with this tree. Raises CalledProcessError with the output."""
    before = os.environ.get("PYTHONPATH", "")
    variables = {**os.environ, **environment, "PYTHONPATH": f"{contents.ROOT}:{before}", "TF_CPP_MIN_LOG_LEVEL": "1"}
    subprocess.run(
        [sys.executable, *arguments],
        cwd=contents.ROOT,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )


def _parse() -> tuple[Options, bool]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR", help="folder for the pieces")
    parser.add_argument(
        "--build",
        type=pathlib.Path,
        default=contents.ROOT / "build",
        metavar="DIR",
        help="build folder with hpu_cts and hpu_bench",
    )
    parser.add_argument("--piece-mb", type=float, default=60, metavar="MB", help="maximum piece size (default: 60)")
    parser.add_argument("--preset", type=int, choices=range(10), default=6, help="effort of xz (default: 6)")
    parser.add_argument("--target", default="h100", metavar="CARD", help="card for the recipes (default: h100)")
    parser.add_argument("--cpu-plugin", action="store_true", help="add the CPU plugin, to try the kit without a card")
    parser.add_argument("--corpus", type=pathlib.Path, metavar="DIR", help="recorded corpus (default: record one)")
    parser.add_argument("--json", action="store_true", help="print one JSON object for programs")
    parsed = parser.parse_args()
    options = Options(
        parsed.out,
        parsed.build,
        int(parsed.piece_mb * _MB),
        parsed.preset,
        parsed.target,
        parsed.cpu_plugin,
        parsed.corpus,
    )
    return options, parsed.json


def main() -> int:
    """Exit codes: 0: packed; 1: a part is missing or failed to build; 2: wrong usage."""
    options, as_json = _parse()
    try:
        packed = pack(options)
    except subprocess.CalledProcessError as error:
        print(f"pack: {' '.join(map(str, error.cmd))} failed:\n{error.stdout or ''}", file=sys.stderr)
        return 1
    except (contents.ContentsError, libraries.LibraryError) as error:
        print(f"pack: {error}", file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps(dataclasses.asdict(packed), indent=2))
        return 0
    for piece in packed.pieces:
        print(f"{piece.name:<24} {piece.bytes / _MB:6.1f} MB{'  (optional)' if piece.optional else ''}")
    for name, reason in packed.skipped.items():
        print(f"without {name}: {reason}")
    print(f"{packed.bytes / _MB:.0f} MB, {packed.unpacked_bytes / _MB:.0f} MB unpacked, in {packed.seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
