"""Training with each built-in recipe: ops have the precision of the recipe's lists, and losses match float32."""

from __future__ import annotations

import functools
import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format

from habana_frameworks.tensorflow.explanation.passes import HPU
from tests.passes import bf16_reference
from tests.precision.models import MODELS
from tests.support.clusters import assert_launched

PUBLISHED = pathlib.Path(__file__).parent.parent / "passes" / "published_recipes"
RECIPES = {"full": "full.1.3.0.9781f722", "bert": "bert.1.7.1.7cf83d03", "unet2d": "unet.1.2.0.46e81b0a"}
STEPS = 40
LAST = 5  # number of averaged losses


def published(recipe: str) -> dict[str, list[str]]:
    name = RECIPES[recipe]
    return json.loads((PUBLISHED / f"{name.split('.')[0]}.json").read_text())[name]


@functools.cache
def float32_losses(model: str) -> list[float]:
    return MODELS[model]("/device:HPU:0", STEPS)


def logged(directory: pathlib.Path, model: str, when: str) -> tf.compat.v1.GraphDef:
    (path,) = directory.glob(f"bf16_{model}_step_{when}*.pbtxt")
    return text_format.Parse(path.read_text(), tf.compat.v1.GraphDef())


def precision_of(node: tf.compat.v1.NodeDef) -> str:
    types = {value.type for value in node.attr.values()} | {t for v in node.attr.values() for t in v.list.type}
    if node.op == "Cast" or not types & {bf16_reference.FLOAT, bf16_reference.BF16}:
        return "none"
    return "bfloat16" if bf16_reference.BF16 in types else "float32"


# These pairs cover each recipe and each model. The other pairs are slow tests.
QUICK = (("encoder", "full"), ("encoder", "bert"), ("unet", "unet2d"))


@pytest.mark.parametrize(
    ("model", "recipe"),
    [
        pytest.param(model, recipe, marks=() if (model, recipe) in QUICK else pytest.mark.slow)
        for model in MODELS
        for recipe in RECIPES
    ],
)
def test_training_under_a_recipe(
    hpu: str, model: str, recipe: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    expected_losses = float32_losses(model)
    monkeypatch.setenv("TF_BF16_CONVERSION", recipe)
    monkeypatch.setenv("TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_LOG_PATH", str(tmp_path))
    losses = MODELS[model]("/device:HPU:0", STEPS)
    assert_launched()

    before, after = logged(tmp_path, model, "before"), logged(tmp_path, model, "after")
    converted = bf16_reference.converted(before, published(recipe), HPU)
    expected = {
        node.name: "bfloat16" if node.name in converted else precision_of(node)
        for node in before.node
        if node.op != "Cast"
    }
    assert {node.name: precision_of(node) for node in after.node if node.op != "Cast"} == expected
    products = {node.op for node in before.node if node.name in converted}
    assert "BiasAdd" in products
    bf16_reference.casts_are_minimal(before, after)

    assert losses != expected_losses
    assert np.mean(losses[-LAST:]) < 0.8 * losses[0]
    np.testing.assert_allclose(np.mean(losses[-LAST:]), np.mean(expected_losses[-LAST:]), rtol=0.02)
