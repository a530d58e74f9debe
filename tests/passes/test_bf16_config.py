"""Configuration files of TF_BF16_CONVERSION: valid contents, errors, and precedence."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
import tensorflow as tf

import habana_frameworks.tensorflow as htf
from habana_frameworks.tensorflow.errors import DeviceError
from habana_frameworks.tensorflow.explanation import passes
from habana_frameworks.tensorflow.explanation.passes import CPU, HPU

PUBLISHED = pathlib.Path(__file__).parent / "published_recipes"
RECIPES = {
    name: recipe for path in sorted(PUBLISHED.glob("*.json")) for name, recipe in json.loads(path.read_text()).items()
}
CANONICAL = {
    "allow_list": "allowlist",
    "whitelist": "allowlist",
    "graylist": "conditional_list",
    "input_only_exceptions": "strict_conditional_list",
}
KEYS = [
    "allowlist",
    "conditional_list",
    "strict_conditional_list",
    "non_convertible_exceptions",
    "convertible_exceptions",
]
ADJUST = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_"


@pytest.fixture(scope="module")
def graph() -> tf.compat.v1.GraphDef:
    with tf.Graph().as_default() as graph, tf.device(HPU):
        with tf.device(CPU):
            x = tf.compat.v1.placeholder(tf.float32, [2, 2], name="x")
        y = tf.tanh(tf.matmul(x, x, name="product"), name="tanh")
        with tf.device(CPU):
            tf.identity(y, name="out")
    return graph.as_graph_def()


@pytest.fixture
def dump(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "dump.json"
    monkeypatch.setenv("TF_BF16_DUMP_PATH", str(path))
    return path


def converted(graph: tf.compat.v1.GraphDef) -> set[str]:
    return {rewrite.node for rewrite in passes.run(graph, "bf16").report.rewrites}


def canonical(recipe: dict[str, Any]) -> dict[str, Any]:
    return {**{key: [] for key in KEYS}, **{CANONICAL.get(key, key): value for key, value in recipe.items()}}


def test_all_published_recipes_are_included() -> None:
    assert len(RECIPES) == 28
    assert {key for recipe in RECIPES.values() for key in recipe} == {*KEYS, *CANONICAL} - {"allow_list"}


@pytest.mark.parametrize("key", [*KEYS[:3], *CANONICAL])
def test_every_spelling_of_a_key_loads(
    key: str, graph: Any, dump: pathlib.Path, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """Gaudi's guide has `allow_list` in its template, and `allowlist` in its example."""
    written = {"allowlist": ["MatMul"], key: ["MatMul", "Tanh"]}
    if CANONICAL.get(key) == "allowlist":
        del written["allowlist"]
    path = tmp_path / "template.json"
    path.write_text(json.dumps(written))
    monkeypatch.setenv("TF_BF16_CONVERSION", str(path))
    assert converted(graph) == {"product", "tanh"}
    assert json.loads(dump.read_text()) == canonical(written)


@pytest.mark.parametrize("name", RECIPES)
def test_a_published_recipe_loads_and_its_dump_equals_it(
    name: str, graph: Any, dump: pathlib.Path, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(RECIPES[name]))
    monkeypatch.setenv("TF_BF16_CONVERSION", str(path))
    expected = {"product", "tanh"} if "Tanh" in canonical(RECIPES[name])["allowlist"] else {"product"}
    assert converted(graph) == expected
    first = dump.read_text()
    assert list(json.loads(first)) == KEYS
    assert json.loads(first) == canonical(RECIPES[name])
    monkeypatch.setenv("TF_BF16_CONVERSION", str(dump))
    monkeypatch.setenv("TF_BF16_DUMP_PATH", str(tmp_path / "again.json"))
    assert converted(graph) == expected
    assert (tmp_path / "again.json").read_text() == first


@pytest.mark.parametrize(
    ("values", "recipe"),
    [
        (["1", "true", "True", "full", "FULL"], "full.1.3.0.9781f722"),
        (["basic"], "basic.1.3.0.f3057830"),
        (["bert"], "bert.1.7.1.7cf83d03"),
        (["unet2d"], "unet.1.2.0.46e81b0a"),
    ],
)
def test_built_in_recipes_are_the_latest_published_ones(
    values: list[str], recipe: str, graph: Any, dump: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i, value in enumerate(values):
        monkeypatch.setenv("TF_BF16_CONVERSION", value)
        monkeypatch.setenv("TF_BF16_DUMP_PATH", f"{dump}.{i}")
        converted(graph)
        dumped = json.loads(pathlib.Path(f"{dump}.{i}").read_text())
        assert {key: sorted(entries) for key, entries in dumped.items()} == {
            key: sorted(entries) for key, entries in RECIPES[recipe].items()
        }


@pytest.mark.parametrize("value", ["", "0", "false", "False"])
def test_the_conversion_is_off(value: str, graph: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_BF16_CONVERSION", value)
    assert converted(graph) == set()


def test_the_deprecated_name_works_until_the_new_one_is_set(graph: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_ENABLE_BF16_CONVERSION", "bert")
    assert converted(graph) == {"product", "tanh"}
    monkeypatch.setenv("TF_BF16_CONVERSION", "basic")
    assert converted(graph) == {"product"}
    monkeypatch.setenv("TF_BF16_CONVERSION", "0")
    assert converted(graph) == set()


@pytest.mark.parametrize("name", ["TF_ENABLE_AUTO_MIXED_PRECISION", "TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE"])
def test_automatic_mixed_precision_takes_the_full_recipe(
    name: str, graph: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1")
    assert converted(graph) == {"product", "tanh"}
    monkeypatch.setenv("TF_BF16_CONVERSION", "false")
    assert converted(graph) == set()


def test_lists_are_adjusted_by_automatic_mixed_precisions_variables(
    graph: Any, dump: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dumped(**settings: str) -> dict[str, list[str]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TF_BF16_CONVERSION", "full")
            for name, value in settings.items():
                patch.setenv(ADJUST + name, value)
            converted(graph)
        return json.loads(dump.read_text())

    full = dumped()
    assert (
        "Tanh" in full["allowlist"] and "Abs" in full["conditional_list"] and "Sub" in full["strict_conditional_list"]
    )
    assert dumped(ALLOWLIST_ADD="Erf, Abs")["allowlist"] == [*full["allowlist"], "Erf", "Abs"]
    assert "Tanh" not in dumped(ALLOWLIST_REMOVE="Tanh")["allowlist"]
    assert dumped(INFERLIST_ADD="Tanh")["conditional_list"] == [*full["conditional_list"], "Tanh"]
    inferred = dumped(INFERLIST_REMOVE="Abs,Sub")
    assert "Abs" not in inferred["conditional_list"] and "Sub" not in inferred["strict_conditional_list"]
    denied = dumped(DENYLIST_ADD="Tanh,Abs,Sub,Mul", DENYLIST_REMOVE="Mul")
    assert {op for key in KEYS[:3] for op in denied[key]} == {op for key in KEYS[:3] for op in full[key]} - {
        "Tanh",
        "Abs",
        "Sub",
    }


def test_a_file_is_read_again_when_it_changes(
    graph: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "config.json"
    monkeypatch.setenv("TF_BF16_CONVERSION", str(path))
    path.write_text('{"allowlist": ["MatMul"]}')
    assert converted(graph) == {"product"}
    path.write_text('{"allowlist": ["Tanh"]}')
    assert converted(graph) == {"tanh"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("allowlist = MatMul", "invalid JSON, expected an object"),
        ('{"allowlist": ["MatMul"]', "invalid JSON, expected an object"),
        ("[]", "invalid JSON, expected an object"),
        ("", "invalid JSON, expected an object"),
        ('{"alowlist": []}', "unknown key alowlist; did you mean allowlist?"),
        ('{"strict_conditional": []}', "unknown key strict_conditional; did you mean strict_conditional_list?"),
        ('{"allowlist": "MatMul"}', "allowlist must be a list"),
        ('{"conditional_list": ["Add", 3]}', r"conditional_list\[1\] must be an op type"),
        ('{"whitelist": [], "allow_list": []}', "allow_list and whitelist name the same list"),
        ('{"convertible_exceptions": [[".*"]]}', r"convertible_exceptions\[0\] must be a pair"),
        ('{"convertible_exceptions": [".*"]}', r"convertible_exceptions\[0\] must be a pair"),
        (
            '{"non_convertible_exceptions": [["a", ""], ["(b", ""]]}',
            r'non_convertible_exceptions\[1\]: invalid regular expression "\(b": missing \)',
        ),
    ],
)
def test_a_bad_file_is_an_error_that_names_it_and_the_place(
    text: str, message: str, graph: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    monkeypatch.setenv("TF_BF16_CONVERSION", str(path))
    with pytest.raises(DeviceError, match=message) as caught:
        converted(graph)
    assert f"TF_BF16_CONVERSION={path}" in str(caught.value)


def test_a_missing_file_and_a_misspelt_recipe_are_errors(
    graph: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setenv("TF_BF16_CONVERSION", "ful")
    with pytest.raises(DeviceError, match=r"TF_BF16_CONVERSION=ful: file not found: ful.*Did you mean full\?"):
        converted(graph)
    monkeypatch.setenv("TF_BF16_CONVERSION", str(tmp_path))
    with pytest.raises(DeviceError, match="is a directory, not a JSON file"):
        converted(graph)
    monkeypatch.setenv("TF_BF16_CONVERSION", "basic")
    monkeypatch.setenv("TF_BF16_DUMP_PATH", str(tmp_path / "none" / "dump.json"))
    with pytest.raises(DeviceError, match=r"cannot write TF_BF16_DUMP_PATH=.*: "):
        converted(graph)


def test_the_error_reaches_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    htf.load_habana_module()
    monkeypatch.setenv("TF_BF16_CONVERSION", "bart")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"TF_BF16_CONVERSION=bart.*Did you mean bert"):
        tf.function(lambda x: tf.tanh(x @ x))(tf.ones([2, 2]))
