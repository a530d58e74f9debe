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

// Order in which n units can run: after their inputs, and otherwise by `rank`. Ignores back edges of loops.
function topologicalOrder(n, next, rank) {
  const waits = new Int32Array(n), done = new Uint8Array(n), order = [];
  for (let v = 0; v < n; v++) for (const w of next[v]) waits[w]++;
  const byRank = [...Array(n).keys()].sort((a, b) => rank[a] - rank[b]);
  const ready = byRank.filter((v) => !waits[v]);
  for (let left = 0; order.length < n;) {
    if (!ready.length) {  // only loops are left: continue at the first remaining unit
      while (done[byRank[left]]) left++;
      ready.push(byRank[left]);
    }
    const v = ready.shift();
    if (done[v]) continue;
    done[v] = 1;
    order.push(v);
    for (const w of next[v]) {
      if (done[w] || --waits[w] > 0) continue;
      let at = ready.length;  // insertion into the sorted list
      while (at > 0 && rank[ready[at - 1]] > rank[w]) at--;
      ready.splice(at, 0, w);
    }
  }
  return order;
}

// Layer of each unit of `order`: one more than the highest layer among its inputs. Ignores back edges of loops. Units for
// which isStep(unit) is true keep the program's order: none is above an earlier one.
function layers(order, next, isStep) {
  const n = order.length, level = new Int32Array(n), position = new Int32Array(n), fed = new Uint8Array(n);
  order.forEach((v, at) => { position[v] = at; });
  let reached = 0;
  for (const v of order) {
    if (isStep(v)) reached = level[v] = Math.max(level[v], reached);
    for (const w of next[v]) {
      fed[w] = 1;
      if (position[w] > position[v]) level[w] = Math.max(level[w], level[v] + 1);
    }
  }
  // Moves each unit without inputs to the layer directly above its first consumer.
  for (const v of order) {
    if (fed[v] || isStep(v) || !next[v].length) continue;
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
  return { kind: "op", key: "o" + op.index, op, ops: [op], rank: op.index, label, w: labelWidth(label), h: LINE };
}

function groupBox(ops, layer, key) {
  const label = `${ops.length} × ${ops[0].type}`;
  return { kind: "group", key, op: ops[0], ops, rank: ops[0].index, label, w: labelWidth(label) + 10, h: LINE + 6 };
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

// Places the boxes of each layer in rows, and the rows in columns, to limit the height. Clusters of a row are in program
// order. Returns [width, height].
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
    row.sort((a, b) => a.preferredSlot - b.preferredSlot || a.rank - b.rank);
    const clusters = row.filter((box) => box.cluster).sort((a, b) => a.rank - b.rank);
    row.forEach((box, at) => { if (box.cluster) row[at] = clusters.shift(); });
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
  const order = topologicalOrder(entry.ops.length, next, entry.ops.map((op) => op.index));
  const level = layers(order, next, () => false);
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
  const consumers = next.map((set) => [...set]);
  // The rank of a cluster is its first op's place in the graph.
  const ranks = units.map((unit) => (unit.ops ? Math.min(graph.ops.length, ...unit.ops.slice(0, 1).map((op) => op.index)) : unit.index));
  const order = topologicalOrder(units.length, consumers, ranks);
  const position = new Int32Array(units.length);
  order.forEach((unit, at) => { position[unit] = at; });
  const level = layers(order, consumers, (unit) => Boolean(units[unit].ops));
  const outside = units.filter((unit) => !unit.ops);
  const boxes = boxesOf(outside, (op) => level[unitOf[op.index]], "", open);
  for (const box of boxes) box.rank = position[unitOf[box.op.index]];
  units.forEach((unit, i) => {
    if (!unit.ops) return;
    const box = Object.assign(clusterBox(unit), { layer: level[i], rank: position[i] });
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
