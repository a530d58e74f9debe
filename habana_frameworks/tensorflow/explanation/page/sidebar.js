// Side panels: counts, search, filters, rules, splits, details. Data of the program is inserted as text, never as HTML.

const MAX_HITS = 200;

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function fill(id, ...children) { document.getElementById(id).replaceChildren(...children.filter(Boolean)); }

function bytes(count) {
  if (count < 1000) return `${count} bytes`;
  const units = ["KB", "MB", "GB"];
  let at = -1;
  do { count /= 1000; at++; } while (count >= 1000 && at < units.length - 1);
  return `${count.toFixed(1)} ${units[at]}`;
}

function percent(part, whole) { return whole ? ` (${Math.floor((100 * part) / whole)} %)` : ""; }

function showCounts() {
  const { ops, clusters } = state.graph;
  const hpu = ops.filter((op) => op.device.startsWith("HPU")).length, inside = ops.filter((op) => op.cluster).length;
  fill("counts", element("span", {}, `${ops.length} ops, ${hpu} on the HPU${percent(hpu, ops.length)}, ${inside} in ` +
    `${clusters.length} cluster${clusters.length === 1 ? "" : "s"}${percent(inside, ops.length)}`));
}

function countBy(ops, key) {
  const counts = new Map();
  for (const op of ops) counts.set(key(op), (counts.get(key(op)) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

const FILTERS = {
  rule: ["Rule", (op) => op.rule || null],
  device: ["Device", (op) => op.device || null],
  dtype: ["Precision", (op) => op.dtypes[0] || null],
};

function showFilters() {
  fill("filters", ...Object.entries(FILTERS).map(([name, [title, key]]) => element("div", {},
    element("small", { className: "dim" }, title),
    element("div", { className: "chips" }, ...countBy(state.graph.ops, key).map(([value, count]) => element("button", {
      className: "chip" + (state.filters[name] === value ? " on" : ""),
      onclick: () => { state.filters[name] = state.filters[name] === value ? undefined : value; refilter(); },
    }, `${filterLabel(name, value)} ${count}`))))));
}

function showRules() {
  const own = new Map(countBy(state.graph.ops.filter((op) => op.rule), (op) => op.rule));
  const copied = new Map();
  for (const op of state.graph.ops) copied.set(op.rule, (copied.get(op.rule) || 0) + op.copied_bytes);
  const rows = Object.values(state.data.rules).filter((rule) => own.has(rule.name) && !rule.expected);
  const lowered = state.graph.lowered.map((entry) => element("div", { className: "item" },
    element("b", {}, ruleLabel(entry.rule)), ` ${entry.node} (${entry.op})`, ...ruleElements(entry.rule, entry.reason, "p")));
  fill("rules", ...rows.map((rule) => element("button", { className: "item" + (state.filters.rule === rule.name ? " on" : ""),
    onclick: () => { state.filters.rule = state.filters.rule === rule.name ? undefined : rule.name; refilter(); } },
    element("b", {}, ruleLabel(rule.name)), ` ${own.get(rule.name)} op${own.get(rule.name) === 1 ? "" : "s"}`,
    copied.get(rule.name) ? `, ${bytes(copied.get(rule.name))} copied` : "", ...ruleElements(rule.name, "", "p"))), ...lowered,
    !rows.length && !lowered.length ? element("span", { className: "dim" }, "No rule needs a remedy.") : null);
}

function showSplits() {
  const splits = state.graph.splits;
  document.getElementById("splits-title").hidden = !splits.length;
  fill("splits", ...splits.slice(0, 50).map((split) => element("div", { className: "item" },
    clusterLink(split.first), " and ", clusterLink(split.second), element("br"), element("b", {}, ruleLabel(split.rule)),
    ...ruleElements(split.rule, split.reason, "p"), betweenLinks(split.through))),
    splits.length > 50 ? element("span", { className: "dim" }, `… and ${splits.length - 50} more`) : null);
}

function betweenLinks(names) {
  const found = names.map((name) => state.graph.byName.get(name)).filter(Boolean);
  return found.length ? element("p", {}, "Ops between the clusters:", links(found)) : null;
}

function clusterLink(name) {
  return element("button", { className: "chip", onclick: () => showCluster(name) }, name.replace(/^habana_cluster_/, ""));
}

function opLink(op) {
  return op ? element("button", { className: "chip", title: op.name, onclick: () => select(op) }, shortName(op.name)) : null;
}

function showHits() {
  const query = state.query;
  if (!query) return fill("hits");
  const hits = state.graph.ops.filter(matchesQuery);
  fill("hits", ...hits.slice(0, MAX_HITS).map((op) => element("button", { className: "item", onclick: () => select(op) },
    shortName(op.name), " ", element("small", {}, op.type))),
    element("small", { className: "dim" }, hits.length > MAX_HITS ? `… ${hits.length - MAX_HITS} more` : `${hits.length} found`));
}

function rows(pairs) {
  return element("dl", {}, ...pairs.filter(([, value]) => value !== null && value !== "" && value !== undefined)
    .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function links(ops) {
  const shown = ops.slice(0, 12).map(opLink);
  return element("span", { className: "chips" }, ...shown, ops.length > 12 ? `… ${ops.length - 12} more` : "");
}

function advice(name, reason) {
  return element("div", { className: "advice" }, element("b", {}, ruleLabel(name)), ...ruleElements(name, reason, "p"));
}

function showDetails() {
  const op = state.selected;
  if (op) {
    fill("details", element("h1", {}, op.name), op.rule ? advice(op.rule, op.reason) : null, rows([
      ["type", op.type], ["device", op.device], ["cluster", op.cluster ? clusterLink(op.cluster) : "none"],
      ["precision", op.dtypes.join(", ")], ["time", timeText(state.graph, state.graph.opSeconds[op.index])],
      ["program line", op.source_line], ["copied", op.copied_bytes ? `${bytes(op.copied_bytes)}, ${op.copies} copies` : ""],
      ["CPU runs", op.cpu_runs || ""], ["separates", op.splits ? `${op.splits} pair${op.splits === 1 ? "" : "s"} of clusters` : ""],
      ["inputs", op.inputs.length ? links(op.inputs.map((i) => state.graph.ops[i])) : ""],
      ["consumers", state.graph.consumers[op.index].length ? links(state.graph.consumers[op.index].map((i) => state.graph.ops[i])) : ""],
    ]), ...state.graph.rewrites.filter((rewrite) => rewrite.node === op.name).map((rewrite) =>
      element("p", {}, `${rewrite.by}: ${rewrite.what}`)));
    return;
  }
  const entry = state.graph.byCluster.get(state.cluster);
  if (entry) {
    const { cluster, ops } = entry;
    fill("details", element("h1", {}, cluster.name), cluster.rule ? advice(cluster.rule, cluster.reason) : null, rows([
      ["device", cluster.device], ["ops", String(ops.length)],
      ["arguments", `${cluster.arguments} (${cluster.constants} constants, ${cluster.resources} resources)`],
      ["results", String(cluster.results)], ["jit_compile", cluster.must_compile ? "yes" : ""],
      ["recipes", `${cluster.recipes}, compiled in ${cluster.compile_seconds.toFixed(2)} s`],
      ["launches", String(cluster.launches)], ["time", timeText(state.graph, state.graph.clusterSeconds.get(cluster.name))],
      ["fallbacks", cluster.fallbacks ? `${cluster.fallbacks} (${Object.entries(cluster.fallback_reasons).map((entry) => entry.join(" ")).join(", ")}), ` +
        `${bytes(cluster.fallback_bytes)} copied` : ""],
      ["most frequent", countBy(ops, (member) => member.type).slice(0, 8).map(([type, count]) => `${count} ${type}`).join(", ")],
    ]));
    return;
  }
  fill("details", element("p", { className: "dim" }, "Click a cluster to open it, or an op to see its device, rule and remedy. " +
    "Drag to move, scroll to zoom."));
}
