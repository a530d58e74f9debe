// State of the page and its event handlers. The URL's fragment sets the initial view:
// #graph=0&open=all&q=relu&rule=pinned&colour=time&op=NAME

const state = { data: JSON.parse(document.getElementById("data").textContent), filters: {}, query: "", open: new Set(),
  view: { x: 0, y: 0, k: 1 }, selected: null, cluster: null, filtered: null, colour: "place" };

function matchesQuery(op) {
  return op.name.toLowerCase().includes(state.query) || op.type.toLowerCase().includes(state.query);
}

function refilter() {
  const active = Object.entries(state.filters).filter(([, value]) => value !== undefined);
  state.filtered = active.length || state.query
    ? (op) => active.every(([name, value]) => FILTERS[name][1](op) === value) && (!state.query || matchesQuery(op)) : null;
  showFilters(); showRules(); showHits(); showLegend(); redraw();
}

let queued = false;
function redraw() {
  if (queued) return;
  queued = true;
  requestAnimationFrame(() => { queued = false; draw(); });
}

function relayout() { state.layout = layout(state.graph, state.open); showLegend(); redraw(); }

function fit(box) {
  const { clientWidth: width, clientHeight: height } = state.canvas;
  const area = box ? { x: box.x - 200, y: box.y - 150, w: box.w + 400, h: box.h + 300 } : { x: 0, y: -20, ...pick(state.layout) };
  const k = Math.min(box ? 1.2 : 1.5, (width - 40) / Math.max(1, area.w), (height - 40) / Math.max(1, area.h));
  state.view = { k, x: width / 2 - k * (area.x + area.w / 2), y: height / 2 - k * (area.y + area.h / 2) };
  redraw();
}

function pick({ w, h }) { return { w, h: h + 20 }; }

function show(index) {
  state.graph = state.data.graphs[index];
  if (!state.graph.consumers) { prepare(state.graph); prepareTimes(state.graph, state.data.times || []); }
  state.open = new Set(); state.selected = null; state.cluster = null; state.filters = {};
  document.getElementById("graph").value = index;
  relayout(); showCounts(); showTimes(); showMemory(); showSplits(); showDetails(); refilter(); fit();
}

function openAll() { for (const name of state.graph.byCluster.keys()) state.open.add("c" + name); }

// Selects an op: opens its cluster and group, and scrolls to its box.
function select(op) {
  state.selected = op; state.cluster = null;
  if (op.cluster) state.open.add("c" + op.cluster);
  relayout();
  if (state.layout.holder[op.index].kind === "group") {
    state.open.add(state.layout.holder[op.index].key);
    relayout();
  }
  fit(state.layout.holder[op.index]);
  showDetails();
}

function showCluster(name) {
  state.selected = null; state.cluster = name;
  showDetails();
  const box = state.layout.boxes.find((other) => other.key === "c" + name);
  if (box) fit(box);
}

// Opens or closes a box. The box stays at its place on the screen; the other boxes move.
function toggle(box) {
  const before = { x: box.x, y: box.y };
  const key = box.key;
  if (state.open.has(key)) state.open.delete(key); else state.open.add(key);
  relayout();
  const after = state.layout.boxes.find((other) => other.key === key) || state.layout.boxes.find((other) => other.group === key);
  if (after) {
    state.view.x += state.view.k * (before.x - after.x);
    state.view.y += state.view.k * (before.y - after.y);
  }
}

function click(x, y) {
  const box = boxAt(x, y);
  if (!box) { state.selected = null; state.cluster = null; showDetails(); showLegend(); redraw(); return; }
  if (box.kind === "op") { state.selected = box.op; state.cluster = null; showDetails(); showLegend(); redraw(); return; }
  state.selected = null;
  if (box.cluster) state.cluster = box.cluster.name;
  showDetails();
  toggle(box);
}

function zoom(factor, x, y) {
  const k = Math.min(4, Math.max(0.005, state.view.k * factor));
  const real = k / state.view.k;
  state.view = { k, x: x - real * (x - state.view.x), y: y - real * (y - state.view.y) };
  redraw();
}

function hover(event, x, y) {
  const tip = document.getElementById("hover"), box = boxAt(x, y);
  tip.hidden = !box;
  if (!box) return;
  const op = box.op, seconds = boxSeconds(state.graph, box);
  tip.textContent = box.cluster ? `${box.cluster.name}: click to ${box.kind === "open" ? "close" : "open"}`
    : box.kind === "group" ? `${box.label}${op.rule ? ` (${ruleLabel(op.rule)})` : ""}: click to open`
      : `${op.name}\n${op.type} · ${op.device} · ${op.dtypes.join(", ")}${
        seconds ? `\n${timeText(state.graph, seconds)}` : ""}${op.rule ? `\n${ruleSentences(op.rule, op.reason).join("\n")}` : ""}`;
  tip.style.whiteSpace = "pre-line";
  tip.style.left = Math.min(event.offsetX + 14, state.canvas.clientWidth - 300) + "px";
  tip.style.top = event.offsetY + 16 + "px";
}

function listen() {
  const canvas = state.canvas;
  let from = null, moved = false;
  const toGraph = (event) => [(event.offsetX - state.view.x) / state.view.k, (event.offsetY - state.view.y) / state.view.k];
  canvas.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY]; moved = false; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) { hover(event, ...toGraph(event)); return; }
    const dx = event.clientX - from[0], dy = event.clientY - from[1];
    if (!moved && Math.abs(dx) + Math.abs(dy) < 4) return;
    moved = true; from = [event.clientX, event.clientY];
    state.view.x += dx; state.view.y += dy;
    redraw();
  });
  canvas.addEventListener("pointerup", (event) => { if (from && !moved) click(...toGraph(event)); from = null; });
  canvas.addEventListener("pointerleave", () => { document.getElementById("hover").hidden = true; });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
  }, { passive: false });
  const search = document.getElementById("search");
  search.addEventListener("input", () => { state.query = search.value.trim().toLowerCase(); refilter(); });
  search.addEventListener("keydown", (event) => {
    const first = event.key === "Enter" && state.query && state.graph.ops.find(matchesQuery);
    if (first) select(first);
  });
  document.addEventListener("keydown", (event) => {
    if (event.target === search || event.ctrlKey || event.metaKey) return;
    if (event.key === "/") { event.preventDefault(); search.focus(); }
    if (event.key === "f") fit();
    if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.3 : 1 / 1.3, canvas.clientWidth / 2, canvas.clientHeight / 2);
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (step && event.target === canvas) { state.view.x += step[0]; state.view.y += step[1]; redraw(); }
  });
  document.getElementById("fit").onclick = () => fit();
  document.getElementById("expand").onclick = () => { openAll(); relayout(); fit(); };
  document.getElementById("collapse").onclick = () => { state.open = new Set(); relayout(); fit(); };
  document.getElementById("colour").onchange = (event) => { state.colour = event.target.value; showLegend(); redraw(); };
  document.getElementById("graph").onchange = (event) => show(Number(event.target.value));
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { state.palette = colours(); showLegend(); redraw(); });
}

function start() {
  state.canvas = document.getElementById("canvas");
  state.palette = colours();
  const graphs = state.data.graphs;
  if (!graphs.length) {
    document.querySelector("main").replaceChildren(element("p", { className: "dim", style: "padding: 24px" },
      "No graph ran. Graphs come from tf.function, Keras and Sessions, not from eager ops: put the train step into a tf.function."));
    return;
  }
  fill("graph", ...graphs.map((graph, i) => element("option", { value: i }, `${graph.name} (${graph.ops.length} ops)`)));
  const parameters = new URLSearchParams(location.hash.slice(1));
  const largest = graphs.reduce((best, graph, i) => (graph.ops.length > graphs[best].ops.length ? i : best), 0);
  show(graphs[Number(parameters.get("graph"))] && parameters.has("graph") ? Number(parameters.get("graph")) : largest);
  listen();
  const colour = document.getElementById("colour");
  if (!(state.data.times || []).length) colour.querySelector("[value=time]").remove();
  const wanted = parameters.get("colour") || "time";
  if ([...colour.options].some((option) => option.value === wanted)) colour.value = wanted;
  state.colour = colour.value;
  if (parameters.get("open") === "all") openAll();
  state.query = (parameters.get("q") || "").toLowerCase();
  document.getElementById("search").value = parameters.get("q") || "";
  if (parameters.has("rule")) state.filters.rule = parameters.get("rule") || null;
  relayout(); refilter(); fit();
  const op = state.graph.byName.get(parameters.get("op"));
  if (op) select(op);
}

start();
