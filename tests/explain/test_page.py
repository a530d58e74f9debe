"""The page of an explanation: one file, complete, that fetches nothing. (What it looks like: docs/explain.md.)"""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess

import pytest

from habana_frameworks.tensorflow.explanation import model, page
from habana_frameworks.tensorflow.statistics import Eager

OPS = (
    model.Op("x", "_Arg", "HPU:0", None, ("float",), (), "border", "is an argument"),
    model.Op("tanh", "Tanh", "HPU:0", "habana_cluster_f_0", ("bfloat16",), (0,)),
    model.Op(
        "</script><b>", "Exp", "CPU:0", None, ("float",), (1,), "pinned", "the program & its wish", 128, 2, cuts=1
    ),
    model.Op("mul", "Mul", "HPU:0", "habana_cluster_f_1", ("float",), (1, 2)),
)
CLUSTERS = tuple(model.Cluster(f"habana_cluster_f_{n}", "HPU:0", 1, 1, 0, 0, 1, False, launches=2) for n in range(2))
CUT = model.Cut("habana_cluster_f_0", "habana_cluster_f_1", "cycle", "ops run between", ("</script><b>",))
GRAPH = model.Graph("f", "__inference_f_1", OPS, CLUSTERS, (CUT,))
EXPLANATION = model.Explanation((GRAPH,), Eager(0, 0.0, 0, 0, 0))


def data_of(text: str) -> model.Explanation:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    data = json.loads(found)
    assert {"pinned", "border", "cycle"} <= set(data["rules"]) and data["rules"]["pinned"]["remedy"]
    kept = {name: data[name] for name in ("graphs", "eager", "dropped_graphs")}
    return model.from_json(json.dumps({"format": model.FORMAT, **kept}))


def test_all_of_the_explanation_is_in_it(tmp_path: pathlib.Path) -> None:
    EXPLANATION.to_html(tmp_path / "page.html")
    assert data_of((tmp_path / "page.html").read_text()) == EXPLANATION


def test_nothing_is_fetched_and_names_cannot_end_the_script() -> None:
    text = page.render(EXPLANATION)
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(|<link|\bsrc=|fetch\(|XMLHttp|import\(", text)
    assert text.count("<script") == text.count("</script>") == 2
    assert "<b>" not in text.replace("element(", "")
    assert not re.search(r"@[A-Z]+@", text)


def test_an_explanation_without_graphs_is_a_page_too() -> None:
    assert data_of_empty(page.render(model.Explanation((), Eager(0, 0.0, 0, 0, 0)))) == []


def data_of_empty(text: str) -> list[object]:
    (found,) = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    graphs: list[object] = json.loads(found)["graphs"]
    return graphs


@pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the layout")
def test_the_layout_places_all_boxes_without_overlap(tmp_path: pathlib.Path) -> None:
    program = (pathlib.Path(page.__file__).parent / "page" / "layout.js").read_text()
    graph = json.loads(EXPLANATION.to_json())["graphs"][0]
    program += f"""
    const graph = {json.dumps(graph)};
    prepare(graph);
    const found = [new Set(), new Set(["chabana_cluster_f_0"])].map((open) => layout(graph, open));
    const corners = (one) => one.boxes.map((b) => [b.key, b.x, b.y, b.w, b.h]);
    console.log(JSON.stringify(found.map((one) => [corners(one), one.edges.length])));
    """
    path = tmp_path / "layout.js"
    path.write_text(program)
    done = subprocess.run(["node", str(path)], capture_output=True, text=True, timeout=60, check=True)
    (closed, edges), (opened, _) = json.loads(done.stdout)
    assert sorted(box[0] for box in closed) == ["chabana_cluster_f_0", "chabana_cluster_f_1", "o0", "o2"] and edges == 4
    assert len(opened) == 5
    for i, (_, x, y, w, h) in enumerate(closed):
        for _, x2, y2, w2, h2 in closed[i + 1 :]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
