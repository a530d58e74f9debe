"""HTML page of an explanation: self-contained and complete. docs/user/explain.md shows it."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import random
import re
import shutil
import subprocess
from typing import Any, NamedTuple

import pytest

from habana_frameworks.tensorflow import explanation
from habana_frameworks.tensorflow.explanation import memory, model, page
from habana_frameworks.tensorflow.statistics import Eager

OPS = (
    model.Op("x", "_Arg", "HPU:0", None, ("float",), (), "border", "is an argument"),
    model.Op("tanh", "Tanh", "HPU:0", "habana_cluster_f_0", ("bfloat16",), (0,)),
    model.Op(
        "</script><b>", "Exp", "CPU:0", None, ("float",), (1,), "pinned", "the program & its wish", 128, 2, splits=1
    ),
    model.Op("mul", "Mul", "HPU:0", "habana_cluster_f_1", ("float",), (1, 2)),
)
CLUSTERS = tuple(model.Cluster(f"habana_cluster_f_{n}", "HPU:0", 1, 1, 0, 0, 1, False, launches=2) for n in range(2))
SPLIT = model.ClusterSplit("habana_cluster_f_0", "habana_cluster_f_1", "cycle", "ops run between", ("</script><b>",))
GRAPH = model.Graph("f", "__inference_f_1", OPS, CLUSTERS, (SPLIT,))
EXPLANATION = explanation.Explanation((GRAPH,), Eager(0, 0.0, 0, 0, 0))
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the layout")


def data_of(text: str) -> explanation.Explanation:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    data = json.loads(found)
    assert {"pinned", "border", "cycle"} <= set(data["rules"]) and data["rules"]["pinned"]["remedy"]
    kept = {name: data[name] for name in ("graphs", "eager", "dropped_graphs")}
    return explanation.from_json(json.dumps({"format": model.FORMAT, **kept}))


def test_all_of_the_explanation_is_in_it(tmp_path: pathlib.Path) -> None:
    EXPLANATION.to_html(tmp_path / "page.html")
    assert data_of((tmp_path / "page.html").read_text()) == EXPLANATION


def test_nothing_is_fetched_and_names_cannot_end_the_script() -> None:
    text = page.render(EXPLANATION, EXPLANATION.summary())
    assert not re.search(r"https?://|//[a-z]+\.|@import|url\(|<link|\bsrc=|fetch\(|XMLHttp|import\(", text)
    assert text.count("<script") == text.count("</script>") == 2
    assert "<b>" not in text.replace("element(", "")
    assert not re.search(r"@[A-Z]+@", text)


def test_an_explanation_without_graphs_is_a_page_too() -> None:
    nothing = explanation.Explanation((), Eager(0, 0.0, 0, 0, 0))
    assert data_of_empty(page.render(nothing, nothing.summary())) == []


def data_of_empty(text: str) -> list[object]:
    (found,) = re.findall(r'id="data">(.*?)</script>', text, re.DOTALL)
    graphs: list[object] = json.loads(found)["graphs"]
    return graphs


class Box(NamedTuple):
    key: str
    x: float
    y: float
    w: float
    h: float

    def is_apart_from(self, other: Box) -> bool:
        return (
            self.x + self.w <= other.x
            or other.x + other.w <= self.x
            or self.y + self.h <= other.y
            or other.y + other.h <= self.y
        )


def run_page(graph: model.Graph, program: str, directory: pathlib.Path) -> Any:
    """Runs the scripts without a drawing, then `program` with the prepared graph. Returns the JSON that it prints."""
    folder = pathlib.Path(page.__file__).parent / "page"
    explained = json.loads(explanation.Explanation((graph,), EXPLANATION.eager).to_json())["graphs"][0]
    path = directory / "page.js"
    path.write_text(
        f"""{(folder / "layout.js").read_text()}
    {(folder / "times.js").read_text()}
    {(folder / "memory.js").read_text()}
    const graph = {json.dumps(explained)};
    prepare(graph);
    {program}"""
    )
    done = subprocess.run(["node", str(path)], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def laid_out(graph: model.Graph, opened: list[list[str]], directory: pathlib.Path) -> list[tuple[list[Box], int]]:
    """Runs layout.js. Returns the boxes and the number of edges for each set of opened boxes."""
    program = f"""
    const found = {json.dumps(opened)}.map((open) => layout(graph, new Set(open)));
    const corners = (one) => one.boxes.map((b) => [b.key, b.x, b.y, b.w, b.h]);
    console.log(JSON.stringify(found.map((one) => [corners(one), one.edges.length])));
    """
    return [([Box(*box) for box in boxes], edges) for boxes, edges in run_page(graph, program, directory)]


def assert_apart(boxes: list[Box]) -> None:
    boxes = sorted(boxes, key=lambda box: box.x)
    for i, box in enumerate(boxes):
        for other in boxes[i + 1 :]:
            if other.x >= box.x + box.w:
                break
            assert box.is_apart_from(other), (box, other)


def size(boxes: list[Box]) -> tuple[float, float]:
    return max(box.x + box.w for box in boxes), max(box.y + box.h for box in boxes)


@needs_node
def test_the_layout_places_all_boxes_without_overlap(tmp_path: pathlib.Path) -> None:
    (closed, edges), (opened, _) = laid_out(GRAPH, [[], ["chabana_cluster_f_0"]], tmp_path)
    assert (
        sorted(box.key for box in closed) == ["chabana_cluster_f_0", "chabana_cluster_f_1", "o0", "o2"] and edges == 4
    )
    assert len(opened) == 5
    assert_apart(closed)


@needs_node
def test_the_layout_of_5000_ops_fits_a_screen_or_a_few(tmp_path: pathlib.Path) -> None:
    """Graph like a train step: 40 clusters, CPU ops between them, and a second half that uses the whole first half."""
    choose = random.Random(1)
    ops: list[model.Op] = []
    for index in range(5000):
        outside = index % 125 == 124
        near = [choose.randrange(max(0, index - 9), index) for _ in range(2)] if index else []
        far = [4999 - index] if index > 2500 else []
        cluster = None if outside else f"habana_cluster_f_{index // 125}"
        place, rule = ("CPU:0", "pinned") if outside else ("HPU:0", None)
        ops.append(model.Op(f"layer_{index // 50}/op_{index}", "Tanh", place, cluster, ("float",), (*near, *far), rule))
    names = [f"habana_cluster_f_{n}" for n in range(40)]
    clusters = tuple(model.Cluster(name, "HPU:0", 1, 1, 0, 0, 1, False, launches=2) for name in names)
    graph = model.Graph("f", "__inference_f_1", tuple(ops), clusters, ())
    (closed, _), (one, _), (every, _) = laid_out(
        graph, [[], ["c" + names[7]], ["c" + name for name in names]], tmp_path
    )
    assert len(closed) == 80  # 40 clusters, and 40 boxes between them
    assert_apart(closed)
    assert_apart([box for box in one if box.key != "c" + names[7]])
    assert_apart([box for box in every if not box.key.startswith("chabana")])
    # Closed boxes of 190 by 58 points are legible on one screen. With all ops, the layout is roughly square.
    assert max(size(closed)) < 3000
    width, height = size(every)
    assert 0.2 < width / height < 5


@needs_node
def test_times_are_those_of_ops_and_clusters(tmp_path: pathlib.Path) -> None:
    """Instructions inside an op's loop count for the op, the compiler's own instructions only for the cluster."""
    times = [
        explanation.InstructionTime(f"habana_cluster_f_{cluster}", "fusion", "fusion", op, "", seconds)
        for cluster, op, seconds in [
            (0, "tanh", 1.0),
            (0, "tanh/body/while/add", 0.5),
            (0, "", 0.25),
            (0, "mul", 0.125),  # an op of another cluster
            (1, "mul", 2.0),
            (7, "mul", 9.0),  # a cluster of another graph
        ]
    ]
    program = f"""
    prepareTimes(graph, {json.dumps([dataclasses.asdict(time) for time in times])});
    const boxes = [{{ ops: [graph.ops[1]] }}, {{ ops: graph.ops }}, graph.byCluster.get("habana_cluster_f_0")];
    console.log(JSON.stringify({{ ops: [...graph.opSeconds], clusters: [...graph.clusterSeconds.values()],
      total: graph.seconds, shares: boxes.map((box) => timeShare(graph, box)) }}));
    """
    assert run_page(GRAPH, program, tmp_path) == {
        "ops": [0, 1.5, 0, 2.0],
        "clusters": [1.875, 2.0],
        "total": 3.875,
        "shares": [0.75, 1, 1.875 / 3.875],
    }


@needs_node
def test_clusters_are_drawn_in_program_order(tmp_path: pathlib.Path) -> None:
    """Clusters without a dependency are side by side in the order of the graph, and no cluster is above an earlier one.

    The clusters of each part of the program do not depend on each other. The last cluster reads the first of each part.
    """
    ops = []
    for index in range(12):
        inputs = (index - 4,) if index % 4 == 3 and index > 4 else ()  # a chain through every fourth cluster
        ops.append(model.Op(f"op_{index}", "Tanh", "HPU:0", f"habana_cluster_f_{index}", ("float",), inputs))
    ops.append(model.Op("last", "AddN", "HPU:0", "habana_cluster_f_12", ("float",), (0, 5, 9, 11)))
    clusters = tuple(model.Cluster(f"habana_cluster_f_{n}", "HPU:0", 1, 1, 0, 0, 1, False) for n in range(13))
    ((boxes, _),) = laid_out(model.Graph("f", "__inference_f_1", tuple(ops), clusters), [[]], tmp_path)
    drawn = sorted(boxes, key=lambda box: (box.y, box.x))
    assert [box.key for box in drawn] == [f"chabana_cluster_f_{n}" for n in range(13)]
    assert len({box.y for box in drawn}) == 4


def memory_of(buffers: tuple[explanation.Buffer, ...]) -> explanation.ClusterMemory:
    peak, peak_bytes = max(memory.live_bytes(buffers), key=lambda point: point[1])
    return explanation.ClusterMemory("habana_cluster_f_0", 0, 0, 0, buffers, peak, peak_bytes)


@needs_node
@pytest.mark.parametrize("end", [1, 2, 59, 60, 61, 84, 119, 1000])
def test_the_chart_of_memory_has_the_live_bytes_of_every_position(end: int, tmp_path: pathlib.Path) -> None:
    """Each column shows the maximum of its positions. Each position has a column, and each column a position."""
    choose = random.Random(end)
    ranges = [(0, end - 1), *(sorted(choose.choices(range(end), k=2)) for _ in range(40))]
    buffers = tuple(
        explanation.Buffer("workspace", "fusion", "", "", "f32[1]", 2**number, begin, last)
        for number, (begin, last) in enumerate(ranges)
    )
    found = memory_of(buffers)
    program = f"console.log(JSON.stringify(memoryColumns({json.dumps(dataclasses.asdict(found))}).columns));"
    columns = run_page(GRAPH, program, tmp_path)
    live = [sum(buffer.bytes for buffer in buffers if buffer.is_live(position)) for position in range(end)]
    expected: list[list[int]] = [[] for _ in columns]
    for position, value in enumerate(live):
        expected[position * len(columns) // end].append(value)
    assert columns == [max(values) for values in expected] and len(columns) == min(60, end)


def test_pages_say_why_a_requested_list_is_empty() -> None:
    """Backends other than the emulator record sizes only. The reason is in the text and on the page."""
    sizes = explanation.ClusterMemory("habana_cluster_f_0", 1000, 200, 30, (), 0, 0)
    for backend, words in [("pjrt:cpu", "the backend pjrt:cpu does not"), ("emulator", "recipe")]:
        empty = dataclasses.replace(EXPLANATION, times=(), memory=(sizes,), backend=backend)
        assert explanation.from_json(empty.to_json()) == empty
        (found,) = re.findall(r'id="data">(.*?)</script>', page.render(empty, empty.summary()), re.DOTALL)
        notes = json.loads(found)["notes"]
        assert notes["times"].startswith("No times: ") and notes["memory"].startswith("No tensors: ")
        for note in notes.values():
            assert words in note and f"{note}\n" in empty.summary()
        assert "habana_cluster_f_0: 1.2 KB (arguments 1.0 KB, results 200 bytes, workspace 30 bytes)" in empty.summary()
    (found,) = re.findall(r'id="data">(.*?)</script>', page.render(EXPLANATION, ""), re.DOTALL)
    assert json.loads(found)["notes"] == {"times": None, "memory": None}  # nothing was requested


def words(program: str, directory: pathlib.Path) -> Any:
    """Runs words.js with all rules, then `program`. Returns the JSON that `program` prints."""
    folder = pathlib.Path(page.__file__).parent / "page"
    path = directory / "words.js"
    rules = {name: rule.as_dict() for name, rule in explanation.RULES.items()}
    path.write_text(
        f"const state = {{ data: {{ rules: {json.dumps(rules)} }} }};\n{(folder / 'words.js').read_text()}\n{program}"
    )
    return json.loads(
        subprocess.run(["node", str(path)], capture_output=True, text=True, timeout=60, check=True).stdout
    )


@needs_node
def test_rules_and_filters_are_shown_in_words(tmp_path: pathlib.Path) -> None:
    """Each text about a rule is one sentence. Filter values without a rule, a device or a result have words."""
    program = """
    const sentences = Object.keys(state.data.rules).map((name) => ruleSentences(name, "has a reason"));
    const labels = ["order", "border", "host", null].map((value) => filterLabel("rule", value));
    console.log(JSON.stringify({ sentences, labels, none: [filterLabel("device", null), filterLabel("dtype", null)] }));
    """
    found = words(program, tmp_path)
    for sentences in found["sentences"]:
        assert sentences[0] == "Has a reason." and len(sentences) in (2, 3)
        assert all(text.endswith(".") and not text.endswith("..") for text in sentences)
        assert all(re.match(r"[A-Z]|[a-z]+[_.]", text) for text in sentences), sentences
        assert all(text.startswith("What to do: ") for text in sentences[2:])
    assert found["labels"] == [
        "order of the clusters",
        "arguments and results",
        "host work of clusters",
        "in a cluster",
    ]
    assert found["none"] == ["no device", "no result"]


def test_the_legend_has_every_colour_of_the_drawing() -> None:
    """Every colour class and precision that draw.js uses is in legend.js, and the legend is beside the drawing."""
    folder = pathlib.Path(page.__file__).parent / "page"
    drawing, legend = (folder / "draw.js").read_text(), (folder / "legend.js").read_text()
    (function,) = re.findall(r"function placeOf\(op\) \{.*?\n\}", drawing, re.DOTALL)
    (places,) = re.findall(r"const PLACES = \{(.*?)\};", legend)
    used = set(re.findall(r'"(\w+)"', function.replace('"HPU"', "")))
    assert used == set(re.findall(r"(\w+): ", places)) == {"cluster", "hpu", "cpu", "plain"}
    assert "slice(" not in legend  # no dtype is left out
    style = (folder / "style.css").read_text()
    assert not re.search(r"#(tools|legend) \{[^}]*absolute", style)
