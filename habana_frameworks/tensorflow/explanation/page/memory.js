// Memory of `hpu explain --memory`: live bytes over each cluster's program, and its largest tensors.

const MEMORY_COLUMNS = 60;
const MAX_TENSORS = 12;

function liveBytes(buffers, position) {
  return buffers.reduce((sum, buffer) => sum + (buffer.begin <= position && position <= buffer.end ? buffer.bytes : 0), 0);
}

// Live bytes of each column: the most of the positions in it.
function memoryColumns(memory) {
  const end = Math.max(...memory.buffers.map((buffer) => buffer.end)) + 1;
  const columns = Array(Math.min(MEMORY_COLUMNS, end)).fill(0);
  // Live bytes grow only where a tensor begins.
  const starts = [0, ...memory.buffers.map((buffer) => buffer.begin)];
  columns.forEach((_, i) => starts.push(Math.floor((end * i) / columns.length)));
  for (const position of new Set(starts)) {
    const column = Math.min(columns.length - 1, Math.floor((position * columns.length) / end));
    columns[column] = Math.max(columns[column], liveBytes(memory.buffers, position));
  }
  return { columns, end };
}

function memoryChart(memory) {
  const { columns, end } = memoryColumns(memory);
  const peak = Math.floor((memory.peak * columns.length) / end);
  return element("div", { className: "memory", title: `${bytes(memory.peak_bytes)} at ${memory.peak} of ${end}` },
    ...columns.map((live, i) => {
      const bar = element("span", { className: i === peak ? "peak" : "" });
      bar.style.height = `${Math.max(2, (100 * live) / memory.peak_bytes)}%`;
      return bar;
    }));
}

function tensorRow(memory, buffer) {
  const op = timedOp(state.graph, memory.cluster, buffer.op);
  const name = buffer.op ? shortName(buffer.op) : buffer.instruction;
  const atPeak = buffer.begin <= memory.peak && memory.peak <= buffer.end;
  const bar = element("span", { className: "bar" });
  bar.style.width = `${(100 * buffer.bytes) / memory.buffers[0].bytes}%`;
  const lines = [`${buffer.kind} ${buffer.shape}`, `live from ${buffer.begin} to ${buffer.end}`, buffer.op, buffer.source_line];
  return element("button", { className: "item", title: lines.filter(Boolean).join("\n"), onclick: () => op && select(op) },
    `${name} `, element("small", {}, `${bytes(buffer.bytes)}, ${buffer.kind}${atPeak ? ", live at the peak" : ""}`), bar);
}

// Draws the memory of the graph's clusters.
function showMemory() {
  const clusters = (state.data.memory || []).filter(
    (memory) => memory.buffers.length && state.graph.clusters.some((cluster) => cluster.name === memory.cluster));
  document.getElementById("memory-title").hidden = !clusters.length;
  fill("memory", ...clusters.flatMap((memory) => [
    element("button", { className: "item", onclick: () => showCluster(memory.cluster) },
      `${memory.cluster.replace(/^habana_cluster_/, "")} `, element("small", {}, `${bytes(memory.peak_bytes)} live at the peak`)),
    memoryChart(memory),
    ...memory.buffers.slice(0, MAX_TENSORS).map((buffer) => tensorRow(memory, buffer)),
    memory.buffers.length > MAX_TENSORS ? element("span", { className: "dim" }, `… ${memory.buffers.length - MAX_TENSORS} more tensors`) : null,
  ]));
}
