// Legend: every colour and mark that the drawing of the graph uses.

const PLACES = { cluster: "in a cluster", hpu: "on the HPU, outside clusters", cpu: "on the CPU", plain: "outside clusters, as expected" };

function swatch(background, border, text, className = "") {
  const square = element("span", { className: `swatch ${className}` });
  square.style.background = background; square.style.borderColor = border;
  return element("span", {}, square, text);
}

function showLegend() {
  const colours = { place: placeSwatches, dtype: dtypeSwatches, time: timeSwatches }[state.colour](state.palette);
  fill("legend", ...colours, ...markSwatches(state.palette));
}

function placeSwatches(palette) {
  const used = new Set(state.graph.ops.map(placeOf));
  for (const cluster of state.graph.clusters) used.add(cluster.rule ? "cpu" : "cluster");
  return Object.entries(PLACES).filter(([name]) => used.has(name))
    .map(([name, text]) => swatch(palette[name], palette[name + "-line"], text));
}

function dtypeSwatches(palette) {
  const found = countBy(state.graph.ops, (op) => op.dtypes[0] || null).map(([name]) => name);
  const line = palette["plain-line"];
  return [
    ...(state.graph.clusters.length ? [swatch(palette.cluster, line, "a cluster")] : []),
    ...found.filter((name) => DTYPES[name]).map((name) => swatch(DTYPES[name] + "44", DTYPES[name], name)),
    ...(found.some((name) => !DTYPES[name]) ? [swatch(line + "44", line, "another type, or no result")] : []),
  ];
}

function timeSwatches(palette) {
  return [swatch(palette.plain, palette["plain-line"], "no time measured"), swatch(palette.time + "24", palette.time, "little time"),
    swatch(palette.time + "e0", palette.time, "much time")];
}

function markSwatches(palette) {
  const marks = [];
  if (state.layout && state.layout.boxes.some((box) => box.kind === "group")) {
    marks.push(swatch(palette.back, palette.text, "several equal ops", "group"));
  }
  if (state.selected) marks.push(swatch(palette.back, palette.accent, "selected, with its edges"));
  if (state.filtered) marks.push(element("span", { className: "dim" }, "pale: not in the selection"));
  return marks;
}
