// Memory of `hpu explain --memory`: live bytes over each cluster's program, and its largest tensors.

const MEMORY_COLUMNS = 60;
const MAX_TENSORS = 12;

function liveBytes(buffers, position) {
  return buffers.reduce((sum, buffer) => sum + (buffer.begin <= position && position <= buffer.end ? buffer.bytes : 0), 0);
}

// Live bytes of each column: the maximum over the positions in the column.
function memoryColumns(memory) {
  const end = Math.max(...memory.buffers.map((buffer) => buffer.end)) + 1;
  const columns = Array(Math.min(MEMORY_COLUMNS, end)).fill(0);
  // Live bytes grow only where a tensor begins.
  const starts = memory.buffers.map((buffer) => buffer.begin);
  columns.forEach((_, i) => starts.push(Math.ceil((end * i) / columns.length)));  // the first position of the column
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

// Bytes that a launch holds.
function memoryText(memory) {
  const parts = [memory.argument_bytes, memory.result_bytes, memory.workspace_bytes];
  const [all, ...texts] = [parts.reduce((sum, part) => sum + part, 0), ...parts].map(bytes);
  return `${all}: arguments ${texts[0]}, results ${texts[1]}, workspace ${texts[2]}`;
}

function tensorRow(memory, buffer) {
  const op = timedOp(state.graph, memory.cluster, buffer.op);
  const name = buffer.op ? shortName(buffer.op) : buffer.instruction;
  const atPeak = buffer.begin <= memory.peak && memory.peak <= buffer.end;
  const bar = element("span", { className: atPeak ? "bar" : "bar other" });
  bar.style.width = `${(100 * buffer.bytes) / memory.buffers[0].bytes}%`;
  const lines = [`${buffer.kind} ${buffer.shape}`, `live from ${buffer.begin} to ${buffer.end}${atPeak ? ", at the peak" : ""}`,
    buffer.op, buffer.source_line];
  return element("button", { className: "item", title: lines.filter(Boolean).join("\n"), onclick: () => op && select(op) },
    `${name} `, element("small", {}, `${bytes(buffer.bytes)}, ${buffer.kind}`), bar);
}

// Draws the tensors of a cluster's launch: live bytes over the program, then the largest tensors.
function tensorElements(memory) {
  if (!memory.buffers.length) return [];
  const more = memory.buffers.length - MAX_TENSORS;
  return [
    memoryChart(memory),
    element("small", { className: "dim" }, `live tensors in program order, at most ${bytes(memory.peak_bytes)}`),
    ...memory.buffers.slice(0, MAX_TENSORS).map((buffer) => tensorRow(memory, buffer)),
    more > 0 ? element("span", { className: "dim" }, `… ${more} more tensor${more === 1 ? "" : "s"}`) : null,
  ];
}

// Draws the memory of the graph's clusters, or the reason why there is none.
function showMemory() {
  const note = state.data.notes.memory;
  const clusters = (state.data.memory || []).filter(
    (memory) => state.graph.clusters.some((cluster) => cluster.name === memory.cluster));
  document.getElementById("memory-title").hidden = !clusters.length && !note;
  fill("memory",
    note ? element("p", { className: "dim" }, note) : null,
    clusters.length && !note ? element("p", { className: "dim" }, "Full colour: the peak, and the tensors that are live there.") : null,
    ...clusters.flatMap((memory) => [
      element("button", { className: "item", onclick: () => showCluster(memory.cluster) },
        `${memory.cluster.replace(/^habana_cluster_/, "")} `, element("small", {}, memoryText(memory))),
      ...tensorElements(memory),
    ]));
}
