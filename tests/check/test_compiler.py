"""`hpu check` with the card's compiler: the double of SynapseAI's library, and the CUDA plugin."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest

from habana_frameworks.tensorflow import cli
from habana_frameworks.tensorflow._internal import pjrt_plugins
from tests.check.test_programs import MARK, PROGRAMS
from tests.gaudi import doubles
from tests.pjrt.cuda_plugin import PLUGIN, with_plugin
from tests.support.processes import ROOT, WARM_PYTHON, run

PROGRAM = PROGRAMS / "op_without_node.py"
STEPS = ROOT / "tests" / "pjrt" / "programs" / "mlp_steps.py"


def check(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [WARM_PYTHON, "-m", "habana_frameworks.tensorflow", "check", *arguments]
    return run(command, environment, timeout=280, check=False, cwd=ROOT)


def double() -> str:
    return doubles.backend("1.18").partition(":")[2]


def test_refusals_of_synapse_have_the_line_and_the_reason(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.html"
    done = check("--card", "gaudi2", "--synapse", double(), "--json", "-", "--html", str(page), str(PROGRAM))
    result = json.loads(done.stdout)
    assert (done.returncode, result["verdict"]) == (1, "fails"), done.stderr
    (failure,) = (entry for entry in result["violations"] if entry["level"] == "failure")
    assert (failure["rule"], failure["op_types"]) == ("compile-error", ["MatrixInverse"])
    assert failure["line"]["text"].endswith(MARK) and "Gaudi has no kernel for" in failure["reason"]
    compiler = result["compiler"]
    assert result["recipes"] > 0 and len(compiler["refused"]) == 1 and "synapse=1.18" in compiler["target"]
    assert "refused 1 cluster in whole or in part" in page.read_text()


def test_without_the_library_the_verdict_says_so() -> None:
    done = check("--card", "gaudi2", "--json", "-", str(PROGRAM))
    assert json.loads(done.stdout)["compiler"] is None
    assert (done.returncode, "the program passes" in done.stderr) == (0, True)
    assert "the card's compiler was not checked" in done.stderr and "--synapse LIBRARY" in done.stderr


def test_a_library_for_another_generation_is_refused() -> None:
    done = check("--card", "gaudi3", "--synapse", double(), str(PROGRAM))
    assert done.returncode == 2 and "compiles for GAUDI2, not for GAUDI3: pass --card gaudi2" in done.stderr


@pytest.mark.parametrize(
    ("card", "library", "message"),
    [
        ("gaudi2", "missing/libSynapse.so", "--synapse: missing/libSynapse.so cannot be used"),
        ("h100", "libSynapse.so", "--synapse: h100 is not a Gaudi card"),
    ],
)
def test_wrong_usage(card: str, library: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "--card", card, "--synapse", library, str(PROGRAM)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.skipif(pjrt_plugins.find("cuda") is not None, reason="needs an environment without the CUDA plugin")
def test_a_missing_plugin_is_named() -> None:
    done = check("--card", "h100", str(PROGRAM))
    assert done.returncode == 2 and "no plugin" in done.stderr and "pip install" in done.stderr


@with_plugin
def test_clusters_compile_for_a_card_that_is_absent() -> None:
    # The values are zeros, which have no inverse, so PROGRAM would raise.
    done = check("--card", "h100", "--json", "-", str(STEPS), "3", HPU_BACKEND=f"pjrt:{PLUGIN}")
    result = json.loads(done.stdout)
    assert (done.returncode, result["verdict"]) == (0, "passes"), done.stderr
    assert result["card"]["type"] == "H100" and result["support"] == []
    assert result["recipes"] > 0 and not result["compiler"]["refused"]


@with_plugin
def test_a_changing_size_compiles_a_few_recipes_for_a_card_that_is_absent() -> None:
    program = str(PROGRAMS / "thirty_batch_sizes.py")
    settings = {"HPU_BACKEND": f"pjrt:{PLUGIN}", "HPU_COMPILE_MODE": "auto"}
    done = check("--card", "h100", "--json", "-", program, **settings)
    result = json.loads(done.stdout)
    assert (done.returncode, result["verdict"]) == (0, "passes"), done.stderr
    assert 0 < result["recipes"] <= 10 and result["compile_seconds"] > 0
    assert not result["compiler"]["refused"]
