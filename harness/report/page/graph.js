// The control-flow graph: blocks in layers by the longest way to them, returns as small labels at
// the blocks that go there, because nearly all blocks do.
const SVG = "http://www.w3.org/2000/svg";
const LINE = 14;
const WIDTH = 230;
const GAP = 26;
const LAYER_GAP = 46;
const MOST_LINES = 6;

function blocksOf(insns) {
  const starts = new Set([0]);
  insns.forEach(([, , kind, yes, no], pc) => {
    if (kind === 1 || kind === 2) {
      starts.add(yes);
      starts.add(no);
    }
    if (kind !== 0 && pc + 1 < insns.length) starts.add(pc + 1);
  });
  const order = [...starts].filter((pc) => pc < insns.length).sort((a, b) => a - b);
  const blocks = order.map((first, i) => ({ first, last: (order[i + 1] ?? insns.length) - 1, ways: [], layer: 0 }));
  const at = new Map(blocks.map((block) => [block.first, block]));
  for (const block of blocks) {
    const [, , kind, yes, no, marks] = insns[block.last];
    if (kind === 1) {
      block.ways.push({ to: at.get(yes), name: "T", mark: marks[1] }, { to: at.get(no), name: "F", mark: marks[2] });
    } else if (kind === 2) {
      block.ways.push({ to: at.get(yes), name: "", mark: marks[0] });
    } else if (kind === 0 && block.last + 1 < insns.length) {
      block.ways.push({ to: at.get(block.last + 1), name: "", mark: marks[0] });
    }
  }
  return blocks;
}

// A block that only returns is drawn as a label.
const isLabel = (insns, block) => block.first === block.last && insns[block.first][2] === 3 && block.first !== 0;

function layered(insns, blocks) {
  const entered = new Map(blocks.map((block) => [block, []]));
  const used = new Set([blocks[0]]);
  for (const block of blocks) {  // jumps only go forward
    if (!used.has(block)) continue;
    for (const way of block.ways) {
      used.add(way.to);
      entered.get(way.to).push(block);
      way.to.layer = Math.max(way.to.layer, block.layer + 1);
    }
  }
  const nodes = blocks.filter((block) => used.has(block) && !isLabel(insns, block));
  const layers = [];
  for (const block of nodes) (layers[block.layer] ??= []).push(block);
  const rows = layers.filter((row) => row);
  for (const row of rows) {
    for (const block of row) {
      const from = entered.get(block).filter((one) => one.x !== undefined);
      block.want = from.length ? from.reduce((sum, one) => sum + one.x, 0) / from.length : 0;
    }
    row.sort((a, b) => a.want - b.want || a.first - b.first);
    let x = -Infinity;
    for (const block of row) {
      block.x = Math.max(block.want, x);
      x = block.x + WIDTH + GAP;
    }
    // Blocks that were pushed to the right move back by the mean, so that rows stay centred.
    const pushed = row.reduce((sum, block) => sum + block.x - block.want, 0) / row.length;
    for (const block of row) block.x -= pushed;
  }
  let y = 10;
  for (const row of rows) {
    let height = 0;
    for (const block of row) {
      block.y = y;
      block.lines = Math.min(block.last - block.first + 1, MOST_LINES);
      block.height = block.lines * LINE + 10;
      const labels = block.ways.filter((way) => isLabel(insns, way.to)).length;
      height = Math.max(height, block.height + labels * 18);
    }
    y += height + LAYER_GAP;
  }
  const least = Math.min(...nodes.map((block) => block.x));
  for (const block of nodes) block.x += 10 - least;
  return { nodes, width: Math.max(...nodes.map((block) => block.x)) + WIDTH + 10, height: y };
}

function svg(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
const edgeClass = (way) => (way.name === "T" ? "taken" : way.name === "F" ? "nottaken" : "") + (way.mark === "-" ? " infeasible" : "");

function drawNode(insns, block) {
  const group = svg("g", { class: "node" + (insns[block.first][5][0] === "-" ? " unreached" : "") });
  group.append(svg("title", {}, insns.slice(block.first, block.last + 1).map(([text, comment], i) =>
    `${block.first + i}: ${text}${comment ? "  ; " + comment : ""}`).join("\n")));
  group.append(svg("rect", { x: block.x, y: block.y, width: WIDTH, height: block.height, rx: 4 }));
  const hidden = block.last - block.first + 1 - block.lines;
  for (let i = 0; i < block.lines; ++i) {
    const pc = i + 1 === block.lines ? block.last : block.first + i;
    const [text, comment] = insns[pc];
    const gap = hidden > 0 && i + 2 === block.lines ? `… ${hidden + 1} instructions` : undefined;
    group.append(svg("text", { x: block.x + 6, y: block.y + 16 + i * LINE }, gap ?? short(`${pc} ${comment || text}`, 34)));
  }
  let below = block.y + block.height + 2;
  for (const way of block.ways) {
    if (!isLabel(insns, way.to)) continue;
    const x = block.x + (way.name === "F" ? WIDTH / 2 : 4);
    group.append(svg("rect", { x, y: below, width: WIDTH / 2 - 6, height: 16, rx: 8, class: "chip " }));
    group.append(svg("text", { x: x + 6, y: below + 12 }, short(`${way.name} ${way.mark === "-" ? "✗ " : ""}${insns[way.to.first][1]}`, 17)));
    if (way.name !== "T") below += 18;
  }
  return group;
}

function drawEdge(block, way) {
  const x1 = block.x + (way.name === "T" ? WIDTH * 0.25 : way.name === "F" ? WIDTH * 0.75 : WIDTH / 2);
  const y1 = block.y + block.height;
  const x2 = way.to.x + WIDTH / 2;
  const y2 = way.to.y;
  const bend = Math.min(40, (y2 - y1) / 2);
  return svg("path", { class: "edge " + edgeClass(way), d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}` });
}

const graph = { scale: 1 };

function markGraph() {
  if (!graph.nodes || !stepper) return;
  const executed = stepper.executed[graph.side];
  const taken = stepper.taken[graph.side];
  for (const { block, element } of graph.nodes) element.classList.toggle("ran", executed.has(block.first));
  for (const { block, way, element } of graph.edges)
    element.classList.toggle("ran", taken.has(`${block.last}>${way.to.first}`));
}

function scaleGraph(scale) {
  if (!graph.picture) return;
  graph.scale = Math.min(Math.max(scale, 0.02), 4);
  graph.picture.setAttribute("width", graph.width * graph.scale);
  graph.picture.setAttribute("height", graph.height * graph.scale);
}

function drawGraph() {
  graph.side = Number(byId("graph-side").value);
  const insns = data.sides[graph.side].insns;
  const { nodes, width, height } = layered(insns, blocksOf(insns));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  picture.append(svg("title", {}, `Control flow of ${SIDES[graph.side]}: ${nodes.length} blocks`));
  graph.edges = [];
  for (const block of nodes)
    for (const way of block.ways)
      if (!isLabel(insns, way.to)) graph.edges.push({ block, way, element: drawEdge(block, way) });
  graph.nodes = nodes.map((block) => ({ block, element: drawNode(insns, block) }));
  picture.append(...graph.edges.map((one) => one.element), ...graph.nodes.map((one) => one.element));
  Object.assign(graph, { picture, width, height });
  byId("graph-box").replaceChildren(picture);
  byId("graph-status").textContent = `${nodes.length} blocks, ${graph.edges.length} edges; dashed: proven infeasible; green T, red F`;
  scaleGraph(Math.min(1, Math.max(byId("graph-box").clientWidth / width, 0.35)));
  const entry = nodes[0];
  byId("graph-box").scrollLeft = (entry.x + WIDTH / 2) * graph.scale - byId("graph-box").clientWidth / 2;
  markGraph();
}

byId("graph-draw").addEventListener("click", drawGraph);
byId("graph-side").addEventListener("change", drawGraph);
byId("graph-in").addEventListener("click", () => scaleGraph(graph.scale * 1.4));
byId("graph-out").addEventListener("click", () => scaleGraph(graph.scale / 1.4));
byId("graph-fit").addEventListener("click", () => scaleGraph(byId("graph-box").clientWidth / graph.width));
document.addEventListener("input-chosen", markGraph);
// Drawn when the reader scrolls to it: a large graph takes some tenths of a second.
new IntersectionObserver((entries, observer) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  observer.disconnect();
  if (!graph.picture && data.sides[1].insns.length) drawGraph();
}).observe(byId("graph-box"));
