"""op_registry and `hpu ops` agree with what the plugin's passes decide; the generated page is up to date."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import tensorflow as tf

from habana_frameworks.tensorflow import cli, explanation, op_registry
from habana_frameworks.tensorflow._internal.card_table import CARDS
from habana_frameworks.tensorflow.explanation import passes
from habana_frameworks.tensorflow.op_registry import Place, RegisteredOp, kernels
from tests.python import op_registry_programs as programs
from tests.support.processes import call_to, run_with_tensorflow

pytestmark = pytest.mark.usefixtures("hpu")


@pytest.fixture(scope="module")
def ops(hpu: str) -> dict[str, RegisteredOp]:
    return dict(op_registry.ops())


def unary(ops: dict[str, RegisteredOp]) -> Iterator[tuple[RegisteredOp, str]]:
    """Yields compiled ops of one tensor with one type attribute, and the name of their input."""
    for op in ops.values():
        definition = kernels.definitions()[op.name]
        attributes = [attribute for attribute in definition.attr if not attribute.HasField("default_value")]
        is_unary = len(definition.input_arg) == 1 == len(attributes) and attributes[0].type == "type"
        if is_unary and definition.input_arg[0].type_attr and hasattr(tf.raw_ops, op.name):
            yield op, definition.input_arg[0].name


def refusals(ops: list[tuple[RegisteredOp, str]], dtype: tf.DType) -> dict[str, str]:
    """Runs the passes over a graph with one node for each op. Returns the rules of refused ops by op type."""
    with tf.Graph().as_default() as graph:
        with tf.device(passes.CPU):
            x = tf.compat.v1.placeholder(dtype, [2, 2])
        for op, argument in ops:
            with tf.device(passes.HPU):
                getattr(tf.raw_ops, op.name)(**{argument: x}, name=op.name)
    report = passes.run(graph.as_graph_def()).report
    return {refusal.op: refusal.rule for refusal in report.refusals}


def test_the_page_matches() -> None:
    """Runs in its own process, because other tests load op libraries whose ops the page lacks."""
    run_with_tensorflow(call_to(programs.check_pages))


def test_every_op_has_a_place_and_every_other_op_a_reason(ops: dict[str, RegisteredOp]) -> None:
    assert len(ops) > 1400
    assert {op.place for op in ops.values()} == set(Place)
    for op in ops.values():
        assert op.place.is_hpu is (op.off_hpu is None) is (op.gaudi is not None)
        for refusal in (op.off_hpu, op.outside_clusters):
            assert refusal is None or (refusal.rule in explanation.RULES and refusal.reason)
    raw = [name for name in dir(tf.raw_ops) if not name.startswith("_") and name != "tf_export"]
    assert [name for name in raw if name not in ops] == []


def test_clusters_are_the_clusters_of_the_passes(ops: dict[str, RegisteredOp], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPU_MIN_CLUSTER_SIZE", "1")
    tested = [
        (op, name) for op, name in unary(ops) if op.place is Place.COMPILED and "float32" in op.types.get("T", ())
    ]
    assert len(tested) > 60
    refused = refusals(tested, tf.float32)
    for op, _ in tested:
        assert refused.get(op.name, "") == (op.outside_clusters.rule if op.outside_clusters else ""), op.name


@pytest.mark.parametrize("op", ["StatelessRandomUniform", "RandomStandardNormal", "TruncatedNormal"])
def test_random_ops_that_a_pass_replaces(op: str, ops: dict[str, RegisteredOp]) -> None:
    with tf.Graph().as_default() as graph, tf.device(passes.HPU):
        arguments = {"seed": [1, 2]} if op.startswith("Stateless") else {"seed": 1, "seed2": 2, "dtype": tf.float32}
        numbers = getattr(tf.raw_ops, op)(shape=[2, 3], **arguments)
        for _ in range(4):
            numbers = tf.tanh(numbers)
    left = {refusal.op for refusal in passes.run(graph.as_graph_def()).report.refusals}
    assert (op in left) is (ops[op].outside_clusters is not None)


def test_types_of_gaudi_are_those_that_placement_accepts(
    ops: dict[str, RegisteredOp], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With HPU_OP_LIST_UNKNOWN=cpu, an eager op of a known type runs on the HPU, and one of another type does not."""
    monkeypatch.setenv("HPU_OP_LIST", "gaudi")
    monkeypatch.setenv("HPU_OP_LIST_UNKNOWN", "cpu")
    monkeypatch.setenv("HPU_DEVICE_TYPE", CARDS[0].type)
    checked = 0
    for op, argument in unary(ops):
        if op.place is not Place.COMPILED or op.gaudi is None or op.outside_clusters is not None:
            continue
        # An op without a CPU kernel stays on the HPU.
        on_both = set(op.types.get("T", ())) & set(kernels.types(op.name, ["CPU"]).get("T", ()))
        for name in {"float32", "bfloat16", "float64", "float16"} & on_both:
            known = name in op.gaudi.types["T"] and op.gaudi.verdict in ("documented", "inferred")
            x = tf.cast([[0.5, 0.25], [0.25, 0.5]], name)  # invertible
            result = tf.nest.flatten(getattr(tf.raw_ops, op.name)(**{argument: x}))[0]
            assert result.device.endswith("HPU:0") is known, (op.name, name)
            checked += 1
    assert checked > 100


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ops", "MatMul"]) == 0
    assert "MatMul (math): on the HPU, compiled" in capsys.readouterr().out
    assert cli.main(["ops", "CTCLoss", "--json"]) == 1
    (op,) = json.loads(capsys.readouterr().out)["ops"]
    assert (op["place"], op["off_hpu"]["rule"], op["gaudi"]) == ("CPU", "no-kernel", None)
    assert cli.main(["ops", "conv3d*", "--family", "nn"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:3] == ["Conv3D", "nn", "compiled"] for line in lines)
    assert cli.main(["ops", "MatMul", "Matmull"]) == 2
    output = capsys.readouterr()
    assert "MatMul (math)" in output.out and "no op Matmull; did you mean MatMul" in output.err
    assert cli.main(["ops"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[0] == "all"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("tf.nn.conv2d", ["Conv2D"]),
        ("tf.math.add", ["Add", "AddV2"]),
        ("tf.reduce_sum", ["Sum"]),
        ("tf.image.adjust_hue", ["AdjustHue"]),
        ("softmax_cross_entropy_with_logits", ["SoftmaxCrossEntropyWithLogits"]),
        ("tf.raw_ops.MatMul", ["MatMul"]),
    ],
)
def test_names_of_functions(name: str, found: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ops", name, "--json"]) == 0
    assert [op["name"] for op in json.loads(capsys.readouterr().out)["ops"]] == found


def test_the_page_has_the_table_of_the_command() -> None:
    """Runs in its own process, like test_the_page_matches."""
    run_with_tensorflow(call_to(programs.check_table))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Cnv2D"], "no op Cnv2D; did you mean Conv2D"),
        (["cnv2d"], "no op cnv2d; did you mean Conv2D"),
        (["tf.nn.max_pool2d"], "no op tf.nn.max_pool2d; did you mean MaxPool"),
        (["tf.image.resize"], "no op tf.image.resize; did you mean Resize"),
        (["tf.random.normal"], "no op tf.random.normal; did you mean RandomStandardNormal or "),
        (["tf.linalg.eigh"], "no op tf.linalg.eigh; a function may have other ops: `hpu explain` lists"),
        (
            ["tf.keras.layers.LSTM"],
            "no op tf.keras.layers.LSTM; a layer has several ops: `hpu explain` lists the ops of a",
        ),
        (["LSTM"], "no op LSTM; a layer has several ops: `hpu explain` lists the ops of a program"),
        (["Conv2D", "--family", "math"], "no op Conv2D in family math"),
        (["--family", "imge"], "no family imge; did you mean image"),
    ],
)
def test_unknown_names(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ops", *arguments]) == 2
    assert f"hpu ops: {message}" in capsys.readouterr().err
