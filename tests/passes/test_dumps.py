"""Graph dumps: files, contents, and errors."""

from __future__ import annotations

import pathlib

import pytest
import tensorflow as tf
from google.protobuf import text_format

from habana_frameworks.tensorflow.errors import DeviceError
from habana_frameworks.tensorflow.explanation import passes
from tests.passes import dumps_programs as programs
from tests.passes.test_passes import graph_of, on_cpu, placeholder
from tests.support.processes import call_to, run_with_tensorflow

PHASE = "POST_REWRITE_FOR_EXEC"


def small_graph(factor: float = 2.0) -> tf.compat.v1.GraphDef:
    return graph_of(lambda: on_cpu(tf.tanh(placeholder([2]) * factor)))


def names(directory: pathlib.Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def read(path: pathlib.Path) -> tf.compat.v1.GraphDef:
    return text_format.Parse(path.read_text(), tf.compat.v1.GraphDef())


def pass_names() -> list[str]:
    with pytest.raises(DeviceError) as error:
        passes.run(tf.compat.v1.GraphDef(), "no such pass")
    return str(error.value).split("expected one of ")[1].split(", ")


@pytest.fixture
def dumps(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> pathlib.Path:
    """A directory that does not exist yet."""
    directory = tmp_path / "graphs" / "of_a_run"
    monkeypatch.setenv("TF_DUMP_GRAPH_PREFIX", str(directory))
    return directory


def test_level_2_dumps_every_pass(monkeypatch: pytest.MonkeyPatch, dumps: pathlib.Path) -> None:
    monkeypatch.setenv("HBN_TF_GRAPH_DUMP", "2")
    passes.run(small_graph(), function="__inference_dumped_1")
    stages = [f"_{n}_{name}" for n, name in enumerate(pass_names(), 1)]
    assert names(dumps) == sorted(f"hpu_dumped_{PHASE}{stage}.pbtxt" for stage in ["", *stages])
    (launch,) = [node for node in read(dumps / f"hpu_dumped_{PHASE}.pbtxt").node if node.op == "HabanaLaunch"]
    library = read(dumps / f"hpu_dumped_{PHASE}.pbtxt").library
    assert launch.name in [function.signature.name for function in library.function]


def test_level_1_dumps_the_result_and_0_nothing(monkeypatch: pytest.MonkeyPatch, dumps: pathlib.Path) -> None:
    monkeypatch.setenv("HBN_TF_GRAPH_DUMP", "0")
    passes.run(small_graph(), function="__inference_silent_1")
    assert not dumps.exists()
    monkeypatch.delenv("HBN_TF_GRAPH_DUMP")
    passes.run(small_graph(), function="__inference_by_default_1")
    assert names(dumps) == [f"hpu_by_default_{PHASE}.pbtxt"]


def test_no_dump_is_written_over_and_equal_graphs_give_equal_files(
    monkeypatch: pytest.MonkeyPatch, dumps: pathlib.Path
) -> None:
    for factor in (2.0, 3.0, 2.0):
        passes.run(small_graph(factor), function="__inference_again_1")
    first, second, third = (dumps / f"hpu_again_{PHASE}{suffix}.pbtxt" for suffix in ("", "_1", "_2"))
    assert len(names(dumps)) == 3
    assert first.read_bytes() == third.read_bytes() != second.read_bytes()


def test_the_prefix_is_before_the_name(monkeypatch: pytest.MonkeyPatch, dumps: pathlib.Path) -> None:
    monkeypatch.setenv("HBN_TF_GRAPH_PREFIX", "rank_3_")
    passes.run(small_graph(), function="__inference_of_a_rank_1")
    assert names(dumps) == [f"rank_3_hpu_of_a_rank_{PHASE}.pbtxt"]


def test_pairs_before_and_after(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("TF_GRAPPLER_GRAPH_DEF_PATH", str(tmp_path / "pairs"))
    passes.run(small_graph(), function="__inference_paired_1")
    assert names(tmp_path / "pairs") == ["hpu_paired_after.pbtxt", "hpu_paired_before.pbtxt"]
    before, after = (
        {node.op for node in read(tmp_path / "pairs" / f"hpu_paired_{stage}.pbtxt").node}
        for stage in ("before", "after")
    )
    assert "Tanh" in before and "HabanaLaunch" not in before
    assert "Tanh" not in after and "HabanaLaunch" in after


def test_graphs_that_run_are_dumped_phase_by_phase(
    monkeypatch: pytest.MonkeyPatch, dumps: pathlib.Path, hpu: str
) -> None:
    monkeypatch.setenv("HBN_TF_GRAPH_DUMP", "2")

    def make(factor: float) -> tf.types.experimental.GenericFunction:
        @tf.function
        def phased(x: tf.Tensor) -> tf.Tensor:
            return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.tanh(x) * factor, lambda: x)

        return phased

    for factor in (2.0, 3.0):
        make(factor)(tf.ones([2]))
    monkeypatch.setenv("HBN_TF_GRAPH_DUMP", "0")
    for label in ("phased", "phased_1"):
        before = read(dumps / f"hpu_{label}_PRE_PLACEMENT.pbtxt")
        placed = read(dumps / f"hpu_{label}_POST_PLACEMENT.pbtxt")
        result = read(dumps / f"hpu_{label}_{PHASE}.pbtxt")
        assert any("HPU" in node.device for node in placed.node)
        assert not any(node.op == "HabanaLaunch" for node in [*before.node, *placed.node])
        assert any(node.op == "HabanaLaunch" for node in result.node)


@pytest.mark.parametrize("case", ["no directory", "a file in its place"])
def test_unwritable_dumps_warn_once(case: str, tmp_path: pathlib.Path) -> None:
    environment: dict[str, str | None] = {"TF_CPP_MIN_LOG_LEVEL": "1", "HBN_TF_GRAPH_DUMP": "1"}
    environment["TF_DUMP_GRAPH_PREFIX"] = None
    if case != "no directory":
        (tmp_path / "file").write_text("")
        environment["TF_DUMP_GRAPH_PREFIX"] = str(tmp_path / "file")
    done = run_with_tensorflow(call_to(programs.three_clusters), environment)
    assert "DONE 1.5" in done.stdout
    assert done.stderr.count("graph dumps") == 1
    if case == "no directory":
        silent = run_with_tensorflow(call_to(programs.three_clusters), {**environment, "HBN_TF_GRAPH_DUMP": None})
        assert "graph dumps" not in silent.stderr, "dumps are off by default"
