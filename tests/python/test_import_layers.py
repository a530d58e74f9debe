"""Layers of the Python package: the lint rejects imports of higher layers, cycles and missing names."""

from __future__ import annotations

import pytest

from tests.support.processes import ROOT
from tools import check_imports

PACKAGE = check_imports.PACKAGE
MODULES = check_imports.modules(ROOT)
# One module per layer, from the top.
EXAMPLES = (
    "cli.run",
    "statistics",
    "_internal.native.c_api",
    "errors",
    "_internal.flag_table",
    "_internal.version",
)


def test_the_examples_are_of_different_layers() -> None:
    assert [check_imports.layer_of(f"{PACKAGE}.{name}") for name in EXAMPLES] == [*range(len(check_imports.LAYERS))]


def test_every_declared_layer_exists() -> None:
    prefixes = {prefix for layer in check_imports.LAYERS for prefix in layer} - {"*"}
    assert prefixes <= MODULES.keys()


@pytest.mark.parametrize("upper", range(len(EXAMPLES)))
@pytest.mark.parametrize("lower", range(len(EXAMPLES)))
def test_the_lint_refuses_imports_of_layers_above(upper: int, lower: int) -> None:
    importer, imported = f"{PACKAGE}.{EXAMPLES[lower]}", f"{PACKAGE}.{EXAMPLES[upper]}"
    problems = list(check_imports.check({importer: {imported} - {importer}}))
    assert len(problems) == (upper < lower)
    assert all("in a higher layer" in problem for problem in problems)


def test_the_lint_refuses_a_circle() -> None:
    ring = {f"{PACKAGE}.monitor": {f"{PACKAGE}.statistics"}, f"{PACKAGE}.statistics": {f"{PACKAGE}.monitor"}}
    (problem,) = check_imports.check(ring)
    assert "in a cycle" in problem


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (f"import {PACKAGE}.errors", {f"{PACKAGE}.errors"}),
        (f"from {PACKAGE} import errors, load_habana_module", {f"{PACKAGE}.errors", PACKAGE}),
        (f"from {PACKAGE}.errors import JobError", {f"{PACKAGE}.errors"}),
        (f"def f():\n    from {PACKAGE} import flags", {f"{PACKAGE}.flags"}),
        ("import os\nfrom json import loads", set()),
    ],
)
def test_imports_are_found_wherever_they_stand(source: str, found: set[str]) -> None:
    assert check_imports.imports(source, MODULES) == found


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (f"from {PACKAGE} import load_habana_module, statistics", []),
        (f"from {PACKAGE} import gone, load_habana_module, gone_too", [f"gone in {PACKAGE}", f"gone_too in {PACKAGE}"]),
        (f"from {PACKAGE} import (\n    statistics as s,\n    gone,\n)", [f"gone in {PACKAGE}"]),
        (f"    from {PACKAGE}.gone import anything", [f"module {PACKAGE}.gone"]),
        (f"from {PACKAGE} import HabanaEstimator\nfrom {PACKAGE}.errors import JobError", []),
    ],
)
def test_names_that_do_not_exist_are_found_in_any_text(text: str, missing: list[str]) -> None:
    known = {module: check_imports.names_of(path.read_text()) for module, path in MODULES.items()}
    assert list(check_imports.missing_names(text, known)) == missing


def test_the_tree_keeps_the_rules() -> None:
    assert check_imports.main() == 0
