"""Layers of the plugin: forbidden includes fail the lint, and includes of other layers do not compile."""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

from tests.support.processes import ROOT
from tools import check_tree, layers

DECLARED = layers.read()


def header_of(name: str) -> str:
    """Returns the include path of a header of the layer."""
    return min(path.relative_to(ROOT).as_posix() for path in (ROOT / "plugin" / name).rglob("*.h"))


def forbidden(layer: layers.Layer) -> list[str]:
    return [name for name in DECLARED if name != layer.name and name not in layer.uses]


@pytest.mark.parametrize("layer", DECLARED.values(), ids=DECLARED)
def test_the_lint_refuses_an_include_of_each_other_layer(layer: layers.Layer) -> None:
    for other in DECLARED:
        text = f'#include "{header_of(other)}"\n'
        problems = list(check_tree.check_cpp(f"plugin/{layer.name}/planted.cc", text, DECLARED))
        assert bool(problems) == (other in forbidden(layer)), problems
        assert not list(check_tree.check_cpp(f"plugin/{layer.name}/planted_test.cc", text, DECLARED))


def test_the_lint_refuses_a_folder_outside_the_layers() -> None:
    (problem,) = check_tree.check_cpp("plugin/new/planted.cc", "", DECLARED)
    assert "declare it in plugin/layers.yaml" in problem


def test_the_lint_refuses_a_slow_search_for_a_kernel() -> None:
    text = "tensorflow::FindKernelDef(device, node, nullptr, nullptr);\n"
    (problem,) = check_tree.check_cpp("plugin/passes/graph/planted.cc", text, DECLARED)
    assert "use FindKernel or tensorflow::KernelDefAvailable" in problem
    assert not list(check_tree.check_cpp("plugin/passes/analysis/kernel_search.cc", text, DECLARED))


@pytest.mark.parametrize(
    "line",
    [
        "TF_RETURN_IF_ERROR(Run());",
        'return tensorflow::errors::Internal("no");',
        'if (absl::StrContains(status.message(), "busy")) Retry();',
        'if (status.message().find("busy") != npos) Retry();',
        'record.set_rule("pinned");',
    ],
)
def test_the_lint_refuses_words_that_have_a_better_form(line: str) -> None:
    (problem,) = check_tree.check_cpp("plugin/passes/graph/planted.cc", f"\n{line}\n", DECLARED)
    assert problem.startswith("plugin/passes/graph/planted.cc:2: ")
    assert not list(check_tree.check_cpp("plugin/passes/graph/planted_test.cc", line, DECLARED))


def test_the_lint_refuses_a_rule_as_a_text() -> None:
    (problem,) = check_tree.check_package("habana_frameworks/planted.py", 'x = 1\nif op.rule == "pinned":\n')
    assert problem.startswith("habana_frameworks/planted.py:2: ")
    assert not list(check_tree.check_package("habana_frameworks/planted.py", "if op.rule == Rule.PINNED:\n"))


@pytest.mark.parametrize(
    "header",
    [
        "core/common_runtime/function_body.h",
        "core/common_runtime/eager/context.h",
        "compiler/jit/deadness_analysis.h",
        "compiler/tf2xla/xla_compiler.h",
    ],
)
def test_only_compat_includes_internals_of_tensorflow(header: str) -> None:
    text = f'#include "tensorflow/{header}"\n'
    (problem,) = check_tree.check_cpp("plugin/passes/graph/planted.cc", text, DECLARED)
    assert f"only plugin/compat may include tensorflow/{header}" in problem
    for allowed in ("plugin/compat/planted.cc", "plugin/passes/graph/planted_test.cc"):
        assert not list(check_tree.check_cpp(allowed, text, DECLARED))


def test_each_extension_point_of_tensorflow_is_in_use() -> None:
    used: set[str] = set()
    for path in (ROOT / "plugin").rglob("*"):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in (".h", ".cc") and not name.startswith("plugin/compat/") and not check_tree.is_test(name):
            used.update(check_tree.INTERNAL_HEADER.findall(path.read_text()))
    assert used == check_tree.EXTENSION_POINTS.keys()


@pytest.mark.parametrize(
    "text",
    [
        "// TensorFlow 2.15 has another signature.\n",
        "// Removed in 2.21.0.\n",
        '#include "plugin/compat/tf_2_15/llvm_host.h"\n',
        "#if TF_MINOR_VERSION > 15\n",
    ],
)
def test_only_compat_names_a_release_of_tensorflow(text: str) -> None:
    for name in ("plugin/passes/graph/planted.cc", "plugin/passes/graph/planted_test.cc"):
        (problem,) = check_tree.check_cpp(name, text, DECLARED)
        assert f"{name}:1: only plugin/compat may name a TensorFlow release" in problem
    assert not list(check_tree.check_cpp("plugin/compat/tf_2_15/planted.cc", text, DECLARED))


def test_each_forwarding_header_is_in_use() -> None:
    used: set[str] = set()
    for path in [*(ROOT / "plugin").rglob("*"), *(ROOT / "cmake" / "precompiled").iterdir()]:
        if path.suffix in (".h", ".cc") and "forward" not in path.parts:
            used.update(re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE))
    for folder in (ROOT / "plugin" / "compat").glob("tf_*/forward"):
        headers = {path.relative_to(folder).as_posix() for path in folder.rglob("*.h")}
        assert headers
        assert not headers - used


@pytest.mark.parametrize("layer", DECLARED.values(), ids=DECLARED)
def test_the_compiler_does_not_find_other_layers(layer: layers.Layer, tmp_path: pathlib.Path) -> None:
    layers.make_includes(DECLARED, tmp_path)
    lines = [f'#if __has_include("{header_of(name)}")\n{name}\n#endif\n' for name in DECLARED]
    command = ["c++", "-E", "-P", "-x", "c++", f"-I{tmp_path / layer.name}", "-"]
    done = subprocess.run(command, input="".join(lines), capture_output=True, text=True, check=True, cwd=tmp_path)
    assert set(done.stdout.split()) == DECLARED.keys() - set(forbidden(layer))


def test_a_layer_that_moves_loses_its_links(tmp_path: pathlib.Path) -> None:
    first = layers.Layer("first", "", frozenset())
    second = layers.Layer("second", "", frozenset({"first"}))
    layers.make_includes({"first": first, "second": second}, tmp_path, tmp_path / "old")
    alone = layers.Layer("second", "", frozenset())
    layers.make_includes({"first": first, "second": alone}, tmp_path, tmp_path / "new")
    assert [link.name for link in (tmp_path / "second" / "plugin").iterdir()] == ["second"]
    assert (tmp_path / "second" / "plugin" / "second").readlink() == tmp_path / "new" / "plugin" / "second"


@pytest.mark.parametrize("uses", ["[above]", "[unknown]", "[own]"])
def test_layers_use_earlier_layers_only(tmp_path: pathlib.Path, uses: str) -> None:
    declared = tmp_path / "layers.yaml"
    declared.write_text(f"own:\n  holds: own\n  uses: {uses}\nabove:\n  holds: above\n")
    with pytest.raises(ValueError, match=r"own uses \w+, not declared above it"):
        layers.read(declared)


def test_layers_declare_transitive_dependencies(tmp_path: pathlib.Path) -> None:
    declared = tmp_path / "layers.yaml"
    declared.write_text("a:\n  holds: a\nb:\n  holds: b\n  uses: [a]\nc:\n  holds: c\n  uses: [b]\n")
    with pytest.raises(ValueError, match="c must also list a, which its layers use"):
        layers.read(declared)


def planted_circle(root: pathlib.Path) -> list[pathlib.Path]:
    """Creates two folders of one layer that include each other."""
    paths = []
    for folder, other in (("one", "two"), ("two", "one")):
        path = root / "plugin" / "passes" / folder / "planted.h"
        path.parent.mkdir(parents=True)
        path.write_text(f'#include "plugin/passes/{other}/planted.h"\n')
        paths.append(path)
    return paths


def test_folders_that_include_each_other_are_a_circle(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_tree, "ROOT", tmp_path)
    paths = planted_circle(tmp_path)
    assert not list(check_tree.check_circles(paths[:1]))
    (problem,) = check_tree.check_circles(paths)
    assert "passes/one" in problem
    assert "passes/two" in problem
