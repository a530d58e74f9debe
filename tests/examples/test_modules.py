"""Each example in examples/modules runs in this process and prints the expected output."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.support.processes import ROOT

FOLDER = ROOT / "examples" / "modules"
OUTPUTS = {
    "device.py": r"GAUDI2 by plugin 0\.2\.0_.*\n10 steps: \d+\.\d\d ms\nmemory: [1-9]\d* bytes in use, ",
    "estimator.py": r"loss 0\.\d{4} with weights ",
    "layers.py": r"loss [01]\.\d+ to 0\.[0-4]\d+\n",
    "media.py": r"batches 3\ntf.data reads /data/records\nbatches 2\n",
    "ranks.py": r"rank 0 of 1, 0 on this machine: sum 1\.0\n",
    "roi_align.py": r"pooled \(1, 2, 7, 7, 16\) gradients \(1, 32, 32, 16\) \(1, 16, 16, 16\)\n",
    "trace.py": r"habana_cluster_train_function_\d+: \d+ ops, 8 launches, 0 on the CPU\nin the trace: True\n",
}


def test_all_are_run() -> None:
    assert {path.name for path in FOLDER.glob("*.py")} == set(OUTPUTS)


@pytest.mark.parametrize("name", OUTPUTS)
def test_example(hpu: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    assert re.search(OUTPUTS[name], capsys.readouterr().out)
