// Layered layout of a graph's boxes. A layer is a row; each box is below the boxes of its inputs.

const GAP_X = 14, GAP_Y = 30, LINE = 22, PAD = 12, HEAD = 24, MAX_ROW = 1500, GROUP_FROM = 4;

// Adds indices to a graph: each op's position and consumers, ops by name, ops by cluster.
function prepare(graph) {
  graph.consumers = graph.ops.map(() => []);
  graph.ops.forEach((op, i) => { op.index = i; op.inputs.forEach((from) => graph.consumers[from].push(i)); });
  graph.byName = new Map(graph.ops.map((op) => [op.name, op]));
  graph.byCluster = new Map(graph.clusters.map((cluster) => [cluster.name, { cluster, ops: [] }]));
  for (const op of graph.ops) if (op.cluster && graph.byCluster.has(op.cluster)) graph.byCluster.get(op.cluster).ops.push(op);
}

// Layer of each of n units: one more than the highest layer among its inputs. Ignores back edges of loops.
function layers(n, next) {
  const waits = new Int32Array(n), level = new Int32Array(n), order = [];
  for (let v = 0; v < n; v++) for (const w of next[v]) waits[w]++;
  const done = new Uint8Array(n);
  const take = (v) => { done[v] = 1; order.push(v); };
  for (let v = 0; v < n; v++) if (!waits[v]) take(v);
  for (let at = 0, left = 0; ; at++) {
    if (at === order.length) {  // only loops are left: start at the first remaining unit
      while (left < n && done[left]) left++;
      if (left === n) break;
      take(left);
    }
    for (const w of next[order[at]]) {
      if (done[w]) continue;
      level[w] = Math.max(level[w], level[order[at]] + 1);
      if (--waits[w] === 0) take(w);
    }
  }
  // Moves each unit without inputs to the layer directly above its first consumer.
  const fed = new Uint8Array(n);
  for (let v = 0; v < n; v++) for (const w of next[v]) fed[w] = 1;
  for (let v = 0; v < n; v++) {
    if (fed[v] || !next[v].length) continue;
    level[v] = Math.max(0, Math.min(...next[v].map((w) => level[w])) - 1);
  }
  return level;
}

function labelWidth(text) { return Math.min(230, Math.max(56, 7 * Math.min(text.length, 32) + 16)); }

function shortName(name) {
  const parts = name.split("/");
  const text = parts.length > 2 ? "…/" + parts.slice(-2).join("/") : name;
  return text.length > 32 ? "…" + text.slice(-31) : text;
}

function opBox(op) {
  const label = shortName(op.name);
  return { kind: "op", key: "o" + op.index, op, ops: [op], label, w: labelWidth(label), h: LINE };
}

function groupBox(ops, layer, key) {
  const label = `${ops.length} × ${ops[0].type}`;
  return { kind: "group", key, op: ops[0], ops, label, w: labelWidth(label) + 10, h: LINE + 6 };
}

function clusterBox(entry) {
  const { cluster, ops } = entry;
  const label = cluster.name.replace(/^habana_cluster_/, "");
  return { kind: "cluster", key: "c" + cluster.name, cluster, ops, label, w: Math.max(190, labelWidth(label)), h: 58 };
}

// Boxes of ops by layer. A closed group box holds GROUP_FROM or more ops of one layer with equal type, rule and device.
function boxesOf(ops, level, prefix, open) {
  const groups = new Map();
  for (const op of ops) {
    const key = `${prefix}g${level(op)}:${op.type}:${op.rule || ""}:${op.device}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(op);
  }
  const boxes = [];
  for (const [key, members] of groups) {
    const layer = level(members[0]);
    const together = members.length >= GROUP_FROM && !open.has(key);
    const made = together ? [groupBox(members, layer, key)] : members.map(opBox);
    for (const box of made) boxes.push(Object.assign(box, { layer, group: key }));
  }
  return boxes;
}

// Places the boxes of each layer in rows, and the rows in columns, to limit the height. Returns [width, height].
function place(boxes, before) {
  const rows = [];
  const byLayer = new Map();
  for (const box of boxes) (byLayer.get(box.layer) || byLayer.set(box.layer, []).get(box.layer)).push(box);
  for (const layer of [...byLayer.keys()].sort((a, b) => a - b)) {
    const row = byLayer.get(layer);
    for (const box of row) {  // the preferred position is the mean position of the box's inputs
      const centres = before(box).filter((other) => other.slot !== undefined).map((other) => other.slot);
      box.preferredSlot = centres.length ? centres.reduce((a, b) => a + b, 0) / centres.length : Infinity;
    }
    row.sort((a, b) => a.preferredSlot - b.preferredSlot || a.key.localeCompare(b.key));
    let line = [], width = 0;
    for (const box of row) {
      if (line.length && width + box.w > MAX_ROW) { rows.push(line); line = []; width = 0; }
      line.push(box);
      width += box.w + GAP_X;
    }
    rows.push(line);
    let x = -row.reduce((sum, box) => sum + box.w + GAP_X, 0) / 2;
    for (const box of row) { box.slot = x + box.w / 2; x += box.w + GAP_X; }
  }
  const height = (row) => Math.max(...row.map((box) => box.h)) + GAP_Y;
  const width = (row) => row.reduce((sum, box) => sum + box.w + GAP_X, -GAP_X);
  const total = rows.reduce((sum, row) => sum + height(row), 0);
  const widest = Math.max(0, ...rows.map(width)) + 60;
  const columns = Math.max(1, Math.round(Math.sqrt((1.5 * total) / widest)));
  let x = 0, y = 0, columnWidth = 0, bottom = 0, column = [];
  const finish = () => {
    for (const row of column) {
      let at = x + (columnWidth - width(row)) / 2;
      for (const box of row) { box.x = at; at += box.w + GAP_X; }
    }
    x += columnWidth + 60; y = 0; columnWidth = 0; column = [];
  };
  for (const row of rows) {
    if (y > 0 && y + height(row) > total / columns + 40) finish();
    for (const box of row) box.y = y;
    column.push(row);
    columnWidth = Math.max(columnWidth, width(row));
    y += height(row);
    bottom = Math.max(bottom, y - GAP_Y);
  }
  finish();
  return [Math.max(0, x - 60), bottom];
}

// Boxes inside an open cluster, with coordinates relative to the cluster's corner.
function inside(graph, entry, open) {
  const local = new Map(entry.ops.map((op, i) => [op.index, i]));
  const next = entry.ops.map((op) => graph.consumers[op.index].filter((i) => local.has(i)).map((i) => local.get(i)));
  const level = layers(entry.ops.length, next);
  const boxes = boxesOf(entry.ops, (op) => level[local.get(op.index)], "c" + entry.cluster.name, open);
  const holder = new Map();
  for (const box of boxes) for (const op of box.ops) holder.set(op.index, box);
  const [w, h] = place(boxes, (box) => box.ops.flatMap((op) => op.inputs.map((i) => holder.get(i)).filter(Boolean)));
  return { boxes, w: w + 2 * PAD, h: h + 2 * PAD + HEAD };
}

// All boxes of a graph in drawing order, and the edges between the boxes.
function layout(graph, open) {
  const unitOf = new Int32Array(graph.ops.length).fill(-1);
  const units = [];
  for (const entry of graph.byCluster.values()) {
    for (const op of entry.ops) unitOf[op.index] = units.length;
    units.push(entry);
  }
  for (const op of graph.ops) if (unitOf[op.index] < 0) { unitOf[op.index] = units.length; units.push(op); }
  const next = units.map(() => new Set());
  for (const op of graph.ops) {
    for (const from of op.inputs) if (unitOf[from] !== unitOf[op.index]) next[unitOf[from]].add(unitOf[op.index]);
  }
  const level = layers(units.length, next.map((set) => [...set]));
  const outside = units.filter((unit) => !unit.ops);
  const boxes = boxesOf(outside, (op) => level[unitOf[op.index]], "", open);
  units.forEach((unit, i) => {
    if (!unit.ops) return;
    const box = Object.assign(clusterBox(unit), { layer: level[i] });
    if (open.has(box.key)) {
      const inner = inside(graph, unit, open);
      Object.assign(box, { kind: "open", inner: inner.boxes, w: Math.max(inner.w, box.w), h: inner.h });
    }
    boxes.push(box);
  });
  const holder = new Array(graph.ops.length);
  for (const box of boxes) for (const op of box.ops) holder[op.index] = box;
  const [w, h] = place(boxes, (box) => box.ops.slice(0, 400).flatMap((op) => op.inputs.map((i) => holder[i])).filter((b) => b !== box));
  const all = [];
  for (const box of boxes) {
    all.push(box);
    if (box.kind !== "open") continue;
    for (const child of box.inner) {
      child.x += box.x + PAD; child.y += box.y + PAD + HEAD;
      all.push(child);
      for (const op of child.ops) holder[op.index] = child;
    }
  }
  const edges = new Map();
  all.forEach((box, i) => { box.id = i; });
  for (const op of graph.ops) {
    for (const from of op.inputs) {
      const a = holder[from], b = holder[op.index];
      if (a !== b) edges.set(a.id * all.length + b.id, [a, b]);
    }
  }
  return { boxes: all, edges: [...edges.values()], holder, w, h };
}
