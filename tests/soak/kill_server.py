"""Kills a device server at random moments of a training with checkpoints.

    python -m tests.soak.kill_server --kills 50 --epochs 40 --seed 1

The training (examples/digits_resume.py) must report the loss and never hang. After restarts, its final weights must
equal those of an undisturbed training. Exit code 1: a training hung, failed without naming the server, or ended with
other weights.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
import tensorflow as tf

from habana_frameworks.tensorflow import monitor
from tests.remote.servers import Server
from tests.support.processes import WARM_PYTHON, start

# From the server's death to the process's end: 10 s for the error, and the rest for a busy machine.
_MOST_SECONDS = 240
_MOST_TRAINING_SECONDS = 900
_DEVICE_LOST = "device lost"


@dataclasses.dataclass(frozen=True)
class Options:
    """Command line."""

    kills: int
    epochs: int
    seed: int


@dataclasses.dataclass
class Outcome:
    """Counters and problems of the run."""

    kills: int = 0
    """Kills while a training held the device, before its last step."""
    trainings: int = 0
    """Trainings that ended with the correct weights."""
    ends: dict[str, int] = dataclasses.field(default_factory=dict)
    """Ends of the processes whose server was killed, with counts."""
    slowest_seconds: float = 0.0
    """Maximum time from the server's death to the process's end."""
    problems: list[str] = dataclasses.field(default_factory=list)


class _Process:
    """One start of the training."""

    def __init__(self, backend: str, checkpoints: pathlib.Path, epochs: int) -> None:
        arguments = ["--checkpoints", str(checkpoints), "--epochs", str(epochs), "--save-every", "10"]
        command = [WARM_PYTHON, "examples/digits_resume.py", *arguments]
        pipe = subprocess.PIPE
        self._backend = backend
        self._process = start(command, {"HPU_BACKEND": backend}, stdout=pipe, stderr=pipe, text=True)

    def ends_within(self, seconds: float) -> bool:
        """Waits up to `seconds` for the process's end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.communicate(timeout=seconds)
        return self._process.poll() is not None

    def wait_for_device(self) -> float:
        """Waits until the process holds a module or has ended. Returns the time of that event."""
        deadline = time.monotonic() + _MOST_TRAINING_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            if any(module.holder for module in monitor.read(self._backend).modules):
                break
            time.sleep(0.1)
        return time.monotonic()

    def end(self) -> tuple[str, str]:
        """Returns the kind of end, and the problem if the end is wrong."""
        hung = not self.ends_within(_MOST_SECONDS)
        if hung:
            self._process.kill()
        output, errors = self._process.communicate()
        report = f"{output[-500:]}\n{errors[-3000:]}"
        if hung:
            return "hung", f"hung for {_MOST_SECONDS} s: {report}"
        code = self._process.returncode
        if code == 0:
            return "had ended", ""
        named = f"device server at {self._backend}" in errors or f"server answers at {self._backend}" in errors
        if code == os.EX_TEMPFAIL and named:
            return _DEVICE_LOST, ""
        if code == 1 and named and "saved after" not in output:
            return "no device to begin with", ""
        return f"exit code {code}", f"exit code {code}: {report}"


def run(options: Options, directory: pathlib.Path) -> Outcome:
    """Kills servers, whose sockets are in `directory`, and checks each training's result."""
    outcome = Outcome()
    chance = random.Random(options.seed)
    undisturbed = directory / "undisturbed"
    seconds, problems = _train(directory, undisturbed, options.epochs)
    outcome.problems += problems
    while not outcome.problems and outcome.kills < options.kills:
        checkpoints = directory / f"training-{outcome.trainings}"
        # Trainings are disturbed between one and a dozen times.
        for _ in range(chance.randint(1, 12)):
            if outcome.problems or outcome.kills == options.kills:
                break
            whole = not checkpoints.exists()
            ended_after = _disturb(directory, checkpoints, options.epochs, chance.uniform(0, seconds), outcome)
            if ended_after is not None:
                # The machine has become less busy, or only a part of the training was left.
                seconds = ended_after if whole else seconds
                break
        outcome.problems += _train(directory, checkpoints, options.epochs)[1]
        outcome.problems += _differences(undisturbed, checkpoints)
        outcome.trainings += 1
        print(f"{outcome.kills} kills: {outcome.ends}", file=sys.stderr, flush=True)
    return outcome


def _train(directory: pathlib.Path, checkpoints: pathlib.Path, epochs: int) -> tuple[float, list[str]]:
    """Trains to the end. Returns the seconds with the device, and problems."""
    with Server(directory) as server:
        process = _Process(server.backend, checkpoints, epochs)
        begin = process.wait_for_device()
        process.ends_within(_MOST_TRAINING_SECONDS)
        end, problem = process.end()
    return time.monotonic() - begin, [] if end == "had ended" else [problem or f"it ended with: {end}"]


def _disturb(
    directory: pathlib.Path, checkpoints: pathlib.Path, epochs: int, after: float, outcome: Outcome
) -> float | None:
    """Kills the server `after` seconds with the device.

    If the training ends before, returns its seconds with the device.
    """
    with Server(directory) as server:
        process = _Process(server.backend, checkpoints, epochs)
        begin = process.wait_for_device()
        if process.ends_within(after):
            end, problem = process.end()
            outcome.problems += [] if end == "had ended" else [problem or f"it ended with: {end}"]
            return time.monotonic() - begin
        server.kill()
        killed = time.monotonic()
        end, problem = process.end()
    outcome.kills += end == _DEVICE_LOST
    outcome.ends[end] = outcome.ends.get(end, 0) + 1
    outcome.slowest_seconds = max(outcome.slowest_seconds, time.monotonic() - killed)
    outcome.problems += filter(None, [problem])
    return None


def _differences(expected: pathlib.Path, actual: pathlib.Path) -> list[str]:
    """Returns the variables whose values differ between the last checkpoints."""
    one, other = (tf.train.load_checkpoint(str(directory)) for directory in (expected, actual))
    names = [name for name in one.get_variable_to_shape_map() if name.endswith(".ATTRIBUTES/VARIABLE_VALUE")]
    assert any("kernel" in name for name in names), names
    return [
        f"{actual.name}: {name} differs"
        for name in names
        if "save_counter" not in name and not np.array_equal(one.get_tensor(name), other.get_tensor(name))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="number of kills (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=40, help="epochs of 22 steps (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    options = Options(arguments.kills, arguments.epochs, arguments.seed)
    with tempfile.TemporaryDirectory(prefix="hpu-soak-") as directory:
        outcome = run(options, pathlib.Path(directory))
    if arguments.json:
        print(json.dumps(dataclasses.asdict(outcome), indent=2))
    else:
        print(f"{outcome.kills} kills, {outcome.trainings} trainings with the correct weights; {outcome.ends}")
        print(f"the slowest process ended {outcome.slowest_seconds:.1f} s after its server")
        print(*outcome.problems, sep="\n")
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())
