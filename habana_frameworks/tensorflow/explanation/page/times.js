// Times of `hpu explain --time`: by op and by cluster of a graph.

const MAX_TIMED_OPS = 12;

// The op whose name is `name` or a part of it before a "/": a loop's instructions belong to the loop.
function timedOp(graph, cluster, name) {
  for (let end = name.length; end > 0; end = name.lastIndexOf("/", end - 1)) {
    const op = graph.byName.get(name.slice(0, end));
    if (op && op.cluster === cluster) return op;
  }
  return null;
}

// Adds to a graph the seconds of each op and cluster, and their maximum and sum. `times`: Explanation.times.
function prepareTimes(graph, times) {
  graph.opSeconds = new Float64Array(graph.ops.length);
  graph.clusterSeconds = new Map(graph.clusters.map((cluster) => [cluster.name, 0]));
  for (const time of times) {
    if (!graph.clusterSeconds.has(time.cluster)) continue;  // a cluster of another graph, or an op outside clusters
    graph.clusterSeconds.set(time.cluster, graph.clusterSeconds.get(time.cluster) + time.seconds);
    const op = timedOp(graph, time.cluster, time.op);
    if (op) graph.opSeconds[op.index] += time.seconds;
  }
  graph.seconds = [...graph.clusterSeconds.values()].reduce((sum, value) => sum + value, 0);
  graph.maxOpSeconds = graph.opSeconds.reduce((largest, value) => Math.max(largest, value), 0);
}

function boxSeconds(graph, box) {
  return box.cluster ? graph.clusterSeconds.get(box.cluster.name)
    : box.ops.reduce((sum, op) => sum + graph.opSeconds[op.index], 0);
}

// Share of a box from 0 to 1: of a cluster in the graph's time, of ops relative to the op with the most time.
function timeShare(graph, box) {
  const whole = box.cluster ? graph.seconds : graph.maxOpSeconds;
  return whole ? Math.min(1, boxSeconds(graph, box) / whole) : 0;
}

function milliseconds(seconds) { return `${(1e3 * seconds).toFixed(2)} ms`; }

function timeText(graph, seconds) {
  return seconds ? `${milliseconds(seconds)} (${(100 * seconds / graph.seconds).toFixed(1)} % of the clusters' time)` : "";
}

// Fill and line colours for "Colour by time": the more time, the more opaque.
function timeColours(graph, box, palette) {
  const opacity = Math.round(255 * (0.08 + 0.82 * timeShare(graph, box))).toString(16).padStart(2, "0");
  return boxSeconds(graph, box) ? [palette.time + opacity, palette.time] : [palette.plain, palette["plain-line"]];
}

// A bar at the lower edge of a box, as long as its share.
function drawTimeBar(context, graph, box, palette) {
  const share = timeShare(graph, box);
  if (!share || box.kind === "open") return;
  context.fillStyle = palette.time;
  context.fillRect(box.x, box.y + box.h, Math.max(2, box.w * share), 4);
}

// Lists the clusters and the ops with the most time, with a bar for each.
function showTimes() {
  const graph = state.graph;
  const note = state.data.notes.times;
  document.getElementById("times-title").hidden = !graph.seconds && !note;
  if (!graph.seconds) return fill("times", note ? element("p", { className: "dim" }, note) : null);
  const clusters = [...graph.clusterSeconds].filter(([, seconds]) => seconds).sort((a, b) => b[1] - a[1]);
  const ops = graph.ops.filter((op) => graph.opSeconds[op.index])
    .sort((a, b) => graph.opSeconds[b.index] - graph.opSeconds[a.index]);
  const rest = graph.seconds - graph.opSeconds.reduce((sum, value) => sum + value, 0);
  fill("times",
    ...clusters.map(([name, seconds]) => timeRow(name.replace(/^habana_cluster_/, ""), seconds, () => showCluster(name))),
    element("hr"),
    ...ops.slice(0, MAX_TIMED_OPS).map((op) => timeRow(shortName(op.name), graph.opSeconds[op.index], () => select(op))),
    ops.length > MAX_TIMED_OPS ? element("span", { className: "dim" }, `… ${ops.length - MAX_TIMED_OPS} more ops`) : null,
    rest > 1e-9 ? element("div", { className: "dim" }, `made by the compiler: ${milliseconds(rest)}`) : null);
}

function timeRow(name, seconds, onclick) {
  const bar = element("span", { className: "bar" });
  bar.style.width = `${100 * seconds / state.graph.seconds}%`;
  return element("button", { className: "item", onclick }, name, " ", element("small", {}, milliseconds(seconds)), bar);
}
