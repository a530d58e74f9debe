"""The double answers each question of card_questions.py, and gaudi_first_run.md names each question."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.gaudi import card_questions, synapse_library
from tests.support.processes import ROOT, run

PAGE = ROOT / "docs" / "developer" / "gaudi_first_run.md"
COMMAND = [sys.executable, "-m", "tests.gaudi.card_questions"]


def ask(release: str, switches: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return run([*COMMAND, str(synapse_library.path(release)), "--json"], switches, check=False)


def answers(release: str, switches: dict[str, str] | None = None) -> dict[str, Any]:
    """Returns the answers by question. The lowering must work with all of them."""
    done = ask(release, switches)
    assert done.returncode == 0, done.stdout + done.stderr
    return {each["question"]: each for each in json.loads(done.stdout)["answers"]}


@pytest.mark.parametrize("release", synapse_library.RELEASES)
def test_the_double_answers_all_questions(release: str) -> None:
    found = answers(release)
    assert list(found) == [question.name for question in card_questions.QUESTIONS]
    assert found["nan-in-maximum"]["answer"] == "keeps NaN"
    assert found["denormal-products"]["answer"] == "yes"
    assert all(0 < each["figure"] < 1e-6 for name, each in found.items() if name.endswith("-error"))
    assert "the launch fails" in found["index-out-of-range"]["answer"]


def test_other_kernels_give_other_answers() -> None:
    found = answers("1.18", {"SYNAPSE_DOUBLE_LOSE_NAN": "1", "SYNAPSE_DOUBLE_FLUSH_DENORMALS": "1"})
    assert found["nan-in-maximum"]["answer"] == found["nan-in-minimum"]["answer"] == "loses NaN"
    assert found["denormal-gemm"]["answer"] == "they count as 0"
    assert found["max-pool-nan"]["answer"] == "3.0, element 2"


def test_an_answer_that_does_not_fit_names_the_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], clean_switches: None
) -> None:
    by_name = {question.name: question for question in card_questions.QUESTIONS}
    ties = dataclasses.replace(by_name["max-pool-ties"], expected=("the last",))
    refused = card_questions.Question("none", "Is there a node?", no_node, (), "nodes.cc")
    monkeypatch.setattr(card_questions, "QUESTIONS", (ties, refused))
    monkeypatch.setattr(sys, "argv", ["card_questions", str(synapse_library.path("1.18"))])
    assert card_questions.main() == 1
    out = capsys.readouterr().out
    assert (
        "change max-pool-ties: Which of equal elements" in out and "? the first\n       code: pooling_nodes.cc" in out
    )
    assert "change none: Is there a node? refused: synNodeCreateWithId returned" in out


def no_node(card: card_questions.Card) -> card_questions.Reply:
    card.run("no_such_node_f32", [], [])
    return card_questions.Reply("yes")


@pytest.mark.parametrize(
    ("library", "text"),
    [
        ("libm.so.6", "is not SynapseAI's library: it lacks synDriverGetVersion"),
        ("none.so", "cannot open shared object file"),
    ],
)
def test_an_unusable_library(
    library: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["card_questions", library])
    assert card_questions.main() == 2
    assert text in capsys.readouterr().err


def test_an_unknown_release() -> None:
    done = ask("1.18", {"SYNAPSE_DOUBLE_VERSION": "1.11.0"})
    assert (done.returncode, "has release 1.11.0; supported: 1.5, 1.18" in done.stderr) == (2, True)


def test_no_card_is_free() -> None:
    done = ask("1.18", {"SYNAPSE_DOUBLE_DEVICES": "0"})
    assert (done.returncode, "synDeviceAcquire returned" in done.stderr) == (2, True)


def test_the_page_names_each_question_that_a_card_answers() -> None:
    named = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", PAGE.read_text()))
    assert named == {question.name for question in card_questions.QUESTIONS}
