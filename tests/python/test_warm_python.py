"""The warm interpreter for tests behaves like a new interpreter for its caller."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from tests.support.processes import WARM_PYTHON, run, run_with_tensorflow, start

# Omits the path entries that TensorFlow's import adds with a newer setuptools.
SHOW = """import sys, os
path = [entry for entry in sys.path if not entry.endswith("setuptools/_vendor")]
print(__name__, sys.argv, path, os.getcwd(), os.environ["VALUE"], sys.stdin.read())
"""


def test_it_has_imported_tensorflow_and_the_plugins_startup_modules() -> None:
    code = "import sys; print('tensorflow' in sys.modules, [name for name in sys.modules if 'habana' in name])"
    warm, new = (run([python, "-c", code]).stdout for python in (WARM_PYTHON, sys.executable))
    assert warm == new.replace("False", "True")


@pytest.mark.parametrize("kind", ["-c", "-m", "file"])
def test_programs_see_the_same_environment(kind: str, tmp_path: pathlib.Path) -> None:
    program = tmp_path / "shown.py"
    program.write_text(SHOW)
    arguments = {"-c": ["-c", SHOW], "-m": ["-m", "shown"], "file": [str(program)]}[kind]
    environment = {"PYTHONPATH": f"{tmp_path}{os.pathsep}nowhere", "VALUE": "a b"}
    shown = [
        run([python, *arguments, "x", "-y"], environment, cwd=tmp_path, input="text").stdout
        for python in (WARM_PYTHON, sys.executable)
    ]
    assert shown[0] == shown[1]
    assert "'x', '-y'" in shown[0] and "a b text" in shown[0]


def test_programs_run_the_sitecustomize_of_their_path(tmp_path: pathlib.Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.customized = __name__\n")
    code = "import sys; print(sys.customized)"
    for python in (WARM_PYTHON, sys.executable):
        assert run([python, "-c", code], {"PYTHONPATH": str(tmp_path)}).stdout == "sitecustomize\n"


@pytest.mark.parametrize(
    "code",
    [
        "print('end')",
        "raise SystemExit(7)",
        "raise SystemExit('why')",
        "print(end='x'); import os; os.kill(os.getpid(), 9)",
        "import os; os.abort()",
        "import atexit, threading; atexit.register(print, 'last'); threading.Thread(target=print).start()",
    ],
)
def test_programs_end_as_they_would(code: str) -> None:
    warm, new = (run([python, "-c", code], check=False) for python in (WARM_PYTHON, sys.executable))
    assert (warm.returncode, warm.stdout, warm.stderr) == (new.returncode, new.stdout, new.stderr)


def test_signals_reach_the_program_and_readers_see_closed_files() -> None:
    code = """import os, time
try:
    os.close(1)
    time.sleep(60)
except KeyboardInterrupt:
    os._exit(5)
"""
    program = start([WARM_PYTHON, "-c", code], stdout=subprocess.PIPE)
    assert program.stdout is not None
    assert program.stdout.read() == b""
    assert program.poll() is None
    program.send_signal(signal.SIGINT)
    assert program.wait(30) == 5


def test_a_killed_program_ends_with_its_children() -> None:
    code = "import os, time; os.fork(); os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)"
    program = start([WARM_PYTHON, "-c", code], stdout=subprocess.PIPE)
    assert program.stdout is not None
    processes = [int(program.stdout.readline()) for _ in range(2)]
    program.kill()
    assert program.stdout.read() == b""  # both processes have closed the pipe
    end = time.monotonic() + 30
    while any(pathlib.Path(f"/proc/{process}/cwd").exists() for process in processes):
        assert time.monotonic() < end
        time.sleep(0.01)
    program.wait()


def test_a_program_and_its_parent_may_end_at_the_same_time() -> None:
    code = "import os, time; os.write(1, b'%d\\n%d\\n' % (os.getpid(), os.getppid())); time.sleep(60)"
    program = start([WARM_PYTHON, "-c", code], stdout=subprocess.PIPE)
    assert program.stdout is not None
    process, interpreter = (int(program.stdout.readline()) for _ in range(2))
    os.kill(interpreter, signal.SIGSTOP)
    try:
        os.kill(process, signal.SIGKILL)
        # The stopped interpreter may still hold its end of the output, so end of file proves nothing.
        while pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
            time.sleep(0.01)
        program.kill()
        program.wait()
    finally:
        os.kill(interpreter, signal.SIGCONT)
    assert run_with_tensorflow("import os; print(os.getppid())").stdout == f"{interpreter}\n"


def test_children_of_multiprocessing_are_warm_too() -> None:
    code = """
        import multiprocessing, sys

        def child(queue):
            queue.put("tensorflow" in sys.modules)

        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            queue = context.Queue()
            process = context.Process(target=child, args=(queue,))
            process.start()
            print(queue.get(timeout=60))
            process.join()
            assert process.exitcode == 0
    """
    assert run_with_tensorflow(code, as_file=True).stdout == "True\n"
