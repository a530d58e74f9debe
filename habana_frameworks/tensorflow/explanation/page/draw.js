// Canvas drawing of the visible boxes and edges.

const DTYPES = { float: "#5b8bd6", bfloat16: "#9b59d0", half: "#d04fa1", double: "#c2412d", int32: "#4f9d69", int64: "#2f7d6b",
  bool: "#8a8f99", string: "#b57a00", resource: "#6d7686", variant: "#6d7686" };

const FAR = 0.35;  // zoom factor below which op names are not drawn

function css(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }

function colours() {
  const names = ["back", "line", "text", "dim", "accent", "cluster", "cluster-line", "hpu", "hpu-line", "cpu", "cpu-line", "plain",
    "plain-line", "edge", "time"];
  return Object.fromEntries(names.map((name) => [name, css(name)]));
}

// Colour class of an op, a key of PLACES (legend.js).
function placeOf(op) {
  if (op.cluster) return op.rule ? "cpu" : "cluster";  // a rule of an op in a cluster says why the cluster ran on the CPU
  const rule = state.data.rules[op.rule];
  if (rule && rule.expected) return "plain";
  return op.device.startsWith("HPU") ? "hpu" : "cpu";
}

function boxColours(box, palette) {
  if (state.colour === "dtype") {
    const base = DTYPES[box.op ? box.op.dtypes[0] : ""] || palette["plain-line"];
    return [box.cluster ? palette.cluster : base + "44", base];
  }
  if (state.colour === "time") return timeColours(state.graph, box, palette);
  const kind = box.cluster ? (box.cluster.rule ? "cpu" : "cluster") : placeOf(box.op);
  return [palette[kind], palette[kind + "-line"]];
}

function draw() {
  const canvas = state.canvas, scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d"), { x, y, k } = state.view, palette = state.palette;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.fillStyle = palette.back;
  context.fillRect(0, 0, width, height);
  context.translate(x, y); context.scale(k, k);
  const seen = { left: -x / k, top: -y / k, right: (width - x) / k, bottom: (height - y) / k };
  const visible = (box) => box.x < seen.right && box.x + box.w > seen.left && box.y < seen.bottom && box.y + box.h > seen.top;
  for (const box of state.layout.boxes) if (box.kind === "open" && visible(box)) drawBox(context, box, k, palette);
  drawEdges(context, seen, k, palette);
  for (const box of state.layout.boxes) if (box.kind !== "open" && visible(box)) drawBox(context, box, k, palette);
  for (const box of state.layout.boxes) if (box.kind === "open" && visible(box)) drawTitle(context, box, k, palette);
}

function drawEdges(context, seen, k, palette) {
  const chosen = state.selected && state.layout.boxes.filter((box) => box.kind !== "open" && box.ops.includes(state.selected))[0];
  const path = new Path2D(), far = new Path2D(), strong = new Path2D();
  let count = 0;
  for (const [a, b] of state.layout.edges) {
    const x1 = a.x + a.w / 2, y1 = a.y + a.h, x2 = b.x + b.w / 2, y2 = b.y;
    if (Math.max(x1, x2) < seen.left || Math.min(x1, x2) > seen.right) continue;
    if (Math.max(y1, y2) < seen.top || Math.min(y1, y2) > seen.bottom) continue;
    const bend = Math.max(12, Math.min(80, Math.abs(y2 - y1) / 2));
    const long = Math.abs(y2 - y1) + Math.abs(x2 - x1) > 700;
    const target = chosen && (a === chosen || b === chosen) ? strong : long ? far : path;
    target.moveTo(x1, y1);
    target.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
    count++;
  }
  context.lineWidth = Math.min(1.2, 0.9 / k);
  context.strokeStyle = palette.edge;
  const alpha = count > 3000 ? 0.2 : count > 400 ? 0.45 : 0.75;
  context.globalAlpha = alpha;
  context.stroke(path);
  context.globalAlpha = alpha / 2.5;
  context.stroke(far);
  context.globalAlpha = 1;
  context.lineWidth = Math.min(2.5, 2 / k);
  context.strokeStyle = palette.accent;
  context.stroke(strong);
}

function drawBox(context, box, k, palette) {
  const matches = state.filtered ? box.ops.filter(state.filtered).length : box.ops.length;
  const [fill, line] = boxColours(box, palette);
  const isOpen = box.kind === "open";
  context.globalAlpha = matches ? 1 : 0.16;
  // Below FAR an op has no text, so the stronger line colour fills its box, unless the fill's opacity shows the time.
  const colour = !box.cluster && k < FAR && state.colour !== "time" ? line : fill;
  context.fillStyle = colour;
  context.strokeStyle = line;
  context.lineWidth = Math.min(1.5, 1 / k);
  context.beginPath();
  context.roundRect(box.x, box.y, box.w, box.h, box.cluster ? 8 : 5);
  if (isOpen) {
    context.globalAlpha *= 0.35;
  } else {  // an opaque background hides the edges behind the box
    context.fillStyle = palette.back;
    context.fill();
    context.fillStyle = colour;
  }
  context.fill();
  if (isOpen) context.globalAlpha = matches ? 1 : 0.16;
  if (box.kind === "group") {
    context.strokeRect(box.x + 3, box.y - 3, box.w - 6, 3);
  }
  context.stroke();
  if (state.selected && box.ops.includes(state.selected) && !isOpen) {
    context.lineWidth = 3 / Math.min(1, k);
    context.strokeStyle = palette.accent;
    context.stroke();
  }
  if (state.colour === "time") drawTimeBar(context, state.graph, box, palette);
  drawText(context, box, k, palette, matches);
  context.globalAlpha = 1;
}

function drawText(context, box, k, palette, matches) {
  context.fillStyle = palette.text;
  context.textBaseline = "middle";
  if (!box.cluster) {
    if (k < FAR) return;
    context.font = "12px system-ui, sans-serif";
    context.fillText(box.label, box.x + 8, box.y + box.h / 2 + 1, box.w - 14);
    return;
  }
  // The name of a closed cluster grows as the zoom shrinks, up to the width of its box.
  if (box.kind === "open") return;
  const size = Math.min(13 / Math.max(0.5, Math.min(1, k)), box.w / 9);
  if (size * k < 4) return;
  const text = clusterText(box, matches);
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.fillText(box.label, box.x + 10, box.y + 18, box.w - 20);
  context.font = "12px system-ui, sans-serif";
  context.fillStyle = palette.dim;
  context.fillText(text, box.x + 10, box.y + 37, box.w - 20);
}

function clusterText(box, matches) {
  const of = matches === box.ops.length ? "" : `${matches} of `;
  const time = boxSeconds(state.graph, box);
  return `${of}${box.ops.length} ops · ${box.cluster.launches} launch${box.cluster.launches === 1 ? "" : "es"}` +
    (time ? ` · ${milliseconds(time)}` : "");
}

// Title of an open cluster: in the box's head, or below FAR across the box's centre.
function drawTitle(context, box, k, palette) {
  const matches = state.filtered ? box.ops.filter(state.filtered).length : box.ops.length;
  context.fillStyle = palette.text;
  context.globalAlpha = matches ? 1 : 0.3;
  context.textBaseline = "middle";
  if (k >= FAR) {
    context.font = "600 14px system-ui, sans-serif";
    context.fillText(`${box.label}  (${clusterText(box, matches)})`, box.x + PAD, box.y + PAD + 4, box.w - 2 * PAD);
  } else {
    const size = Math.min(15 / k, box.w / Math.max(6, 0.65 * box.label.length), box.h / 2);
    context.font = `600 ${size}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.lineWidth = size / 5;
    context.strokeStyle = palette.back;
    context.strokeText(box.label, box.x + box.w / 2, box.y + box.h / 2);
    context.fillText(box.label, box.x + box.w / 2, box.y + box.h / 2);
    context.textAlign = "start";
  }
  context.globalAlpha = 1;
}

function boxAt(x, y) {
  let found = null;
  for (const box of state.layout.boxes) {
    if (x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h) found = box;
  }
  return found;
}
