"""Checks 1 and 2: GoogleTests of hpu_cts on the plugin. gtests.py client|conformance."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import subprocess
import sys
import time

from tools.accelerator.checks import outcome

# "client": unit tests of the PJRT backend. "conformance": the suites of the device interface.
FILTERS = {"client": "*Pjrt*:*DeviceContents*:*AddressMap*:*CudaCards*:*CompileOptions*", "conformance": "*/chosen"}
_LINE = re.compile(r"^\[ *(RUN|OK|FAILED|SKIPPED) *\] ([\w/.]+)")
_REPORTED = re.compile(r"^reported ([^:]+): (.*)")
_MAX_SHOWN = 20


@dataclasses.dataclass
class Run:
    """Test results, parsed from the output of hpu_cts."""

    passed: list[str] = dataclasses.field(default_factory=list)
    failed: list[str] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)
    crashed: list[str] = dataclasses.field(default_factory=list)
    reported: dict[str, str] = dataclasses.field(default_factory=dict)
    verdict: str = ""

    def add(self, text: str) -> str:
        """Adds the output of one process. Returns the test that was running when the process ended, or ""."""
        running = ""
        for line in text.splitlines():
            if found := _REPORTED.match(line):
                self.reported[found[1]] = found[2]
            if (found := _LINE.match(line)) is None:
                continue
            kind, name = found[1], found[2]
            if kind == "RUN":
                running = name
            elif name == running:  # the summary at the end names failed and skipped tests again
                {"OK": self.passed, "FAILED": self.failed, "SKIPPED": self.skipped}[kind].append(name)
                running = ""
        return running


def run_tests(program: str, pattern: str, timeout: float = 120) -> Run:
    """Runs the tests. After a crash or a hang, reruns hpu_cts without the tests that have already run."""
    run = Run()
    end = time.monotonic() + timeout
    while True:
        excluded = ":".join([*run.passed, *run.failed, *run.skipped, *run.crashed])
        command = [program, f"--gtest_filter={pattern}" + (f"-{excluded}" if excluded else "")]
        environment = {**os.environ, "CTS_BACKEND": os.environ["HPU_BACKEND"]}
        left = end - time.monotonic()
        try:
            done = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=max(left, 1)
            )
            output, how = done.stdout, f"exit code {done.returncode}"
        except subprocess.TimeoutExpired as expired:
            output, how = expired.stdout or b"", "timed out"
        text = output.decode(errors="replace")
        sys.stdout.write(text)
        running = run.add(text)
        if not running:
            break
        run.crashed.append(running)
        run.reported[running] = how
        if time.monotonic() > end:
            break
    return run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", choices=FILTERS)
    tests = parser.parse_args().tests
    program = outcome.kit() / "bin" / "hpu_cts"
    if not program.exists():
        return outcome.skip("the kit has no hpu_cts")
    run = run_tests(str(program), FILTERS[tests], 100 if tests == "client" else 280)
    bad = run.failed + run.crashed
    values = {
        **run.reported,
        "passed": len(run.passed),
        "skipped": [_plain(name) for name in run.skipped],
        "failed": [_plain(name) for name in run.failed[:_MAX_SHOWN]],
        "crashed": [_plain(name) for name in run.crashed],
    }
    kind = run.reported.get("device kind")
    summary = f"{len(run.passed)} passed, {len(run.skipped)} skipped, {len(bad)} failed"
    return outcome.report(not bad and bool(run.passed), f"{kind}; {summary}" if kind else summary, values)


def _plain(name: str) -> str:
    return name.removeprefix("Cts/").removesuffix("/chosen")


if __name__ == "__main__":
    sys.exit(main())
