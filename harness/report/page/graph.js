// The control-flow graph. The length of the longest path to a block determines its layer. Nearly all blocks lead
// to returns, so a return is not one block: every block that goes to it shows a small label.
const SVG = "http://www.w3.org/2000/svg";
const LINE = 14;
const WIDTH = 256;
const MOST_LETTERS = 36;  // in a line of a box
const MOST_LABEL = 16;    // letters in a label
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

// Places the blocks in layers. If `wanted` is given, omits edges to blocks that start at other instructions.
function layered(insns, blocks, wanted) {
  const entered = new Map(blocks.map((block) => [block, []]));
  const used = new Set([blocks[0]]);
  for (const block of blocks) {  // jumps only go forward
    if (!used.has(block)) continue;
    if (wanted) block.ways = block.ways.filter((way) => wanted.has(way.to.first));
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
    // Some blocks were pushed to the right. The row moves back by the mean of these distances, so that it stays centred.
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
    group.append(svg("text", { x: block.x + 6, y: block.y + 16 + i * LINE }, gap ?? short(`${pc} ${comment || text}`, MOST_LETTERS)));
  }
  let below = block.y + block.height + 2;
  for (const way of block.ways) {
    if (!isLabel(insns, way.to)) continue;
    const x = block.x + (way.name === "F" ? WIDTH / 2 : 4);
    group.append(svg("rect", { x, y: below, width: WIDTH / 2 - 6, height: 16, rx: 8, class: "chip " }));
    group.append(svg("text", { x: x + 6, y: below + 12 }, short(`${way.name} ${way.mark === "-" ? "✗ " : ""}${insns[way.to.first][1]}`, MOST_LABEL)));
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
  graph.path.setAttribute("d", graph.outline(graph.nodes.map((one) => one.block).filter((block) => executed.has(block.first))));
}

// Changes the scale, and keeps the centre of the visible part in place.
function scaleGraph(scale) {
  if (!graph.picture) return;
  const box = byId("graph-box");
  const x = (box.scrollLeft + box.clientWidth / 2) / graph.scale;
  const y = (box.scrollTop + box.clientHeight / 2) / graph.scale;
  graph.scale = Math.min(Math.max(scale, 0.02), 4);
  graph.picture.setAttribute("width", graph.width * graph.scale);
  graph.picture.setAttribute("height", graph.height * graph.scale);
  centre(x, y);
}

function centre(x, y) {
  const box = byId("graph-box");
  box.scrollLeft = x * graph.scale - box.clientWidth / 2;
  box.scrollTop = y * graph.scale - box.clientHeight / 2;
  followView();
}

// The overview: all blocks at once, and a frame around what the large picture shows.
function drawMap() {
  const map = svg("svg", { viewBox: `0 0 ${graph.width} ${graph.height}`, preserveAspectRatio: "none" });
  const outline = (blocks) => blocks.map(({ x, y, height }) => `M${x} ${y}h${WIDTH}v${height}h${-WIDTH}z`).join("");
  graph.found = svg("path", { class: "found", d: "" });
  graph.path = svg("path", { class: "path", d: "" });
  graph.view = svg("rect", { class: "view" });
  graph.outline = outline;
  map.append(svg("path", { class: "blocks", d: outline(graph.nodes.map((one) => one.block)) }), graph.path, graph.found, graph.view);
  byId("graph-map").replaceChildren(map);
}

function followView() {
  if (!graph.view) return;
  const box = byId("graph-box");
  const values = { x: box.scrollLeft, y: box.scrollTop, width: box.clientWidth, height: box.clientHeight };
  for (const [name, value] of Object.entries(values)) graph.view.setAttribute(name, value / graph.scale);
}

function goToMap(event) {
  const place = byId("graph-map").getBoundingClientRect();
  centre(((event.clientX - place.left) / place.width) * graph.width, ((event.clientY - place.top) / place.height) * graph.height);
}

function drawGraph() {
  graph.side = Number(byId("graph-side").value);
  const insns = data.sides[graph.side].insns;
  const { nodes, width, height } = layered(insns, blocksOf(insns), byId("graph-call").checked && stepper ? stepper.reachable()[graph.side] : undefined);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  picture.append(svg("title", {}, `Control flow of ${SIDES[graph.side]}: ${counted(nodes.length, "block")}`));
  graph.edges = [];
  for (const block of nodes)
    for (const way of block.ways)
      if (!isLabel(insns, way.to)) graph.edges.push({ block, way, element: drawEdge(block, way) });
  graph.nodes = nodes.map((block) => ({ block, element: drawNode(insns, block) }));
  picture.append(...graph.edges.map((one) => one.element), ...graph.nodes.map((one) => one.element));
  Object.assign(graph, { picture, width, height });
  byId("graph-box").replaceChildren(picture);
  const box = byId("graph-box");
  graph.start = Math.min(1, Math.max(box.clientWidth / width, 0.9));  // a readable scale
  // Hides the overview if the whole picture is visible.
  byId("graph-map").hidden = width * graph.start <= box.clientWidth && height * graph.start <= box.clientHeight;
  graph.text = `${counted(nodes.length, "block")}, ${counted(graph.edges.length, "edge")}; blue T: true, grey F: false, dashed: proven infeasible`;
  drawMap();
  goToStart();
  markGraph();
  findInGraph();
}

// Shows the first block and what follows it, at a readable size.
function goToStart() {
  if (!graph.picture) return;
  scaleGraph(graph.start);
  centre(graph.nodes[0].block.x + WIDTH / 2, 0);
}

// In a large graph, shows the last executed block, where the decision is made. Otherwise shows the first block.
function showPath() {
  const ran = graph.nodes.filter(({ element }) => element.classList.contains("ran"));
  if (ran.length === 0 || graph.nodes.length <= 40) return goToStart();
  const { block } = ran[ran.length - 1];
  centre(block.x + WIDTH / 2, block.y);
}

// Marks the blocks that contain the searched text; Enter goes from one to the next. If no test names the searched system
// call, because the program compares ranges of numbers, marks the blocks that the call can reach.
function findInGraph() {
  if (!graph.nodes) return;
  const wanted = byId("graph-search").value.trim().toLowerCase();
  const insns = data.sides[graph.side].insns;
  graph.matches = wanted === "" ? [] : graph.nodes.filter(({ block }) =>
    insns.slice(block.first, block.last + 1).some(([text, comment], i) => `${block.first + i}: ${text} ${comment}`.toLowerCase().includes(wanted)));
  graph.unnamed = "";
  if (graph.matches.length === 0 && Object.hasOwn(data.calls, wanted)) {
    const reached = reachableBy(insns, data.calls[wanted], data.arch);
    graph.matches = graph.nodes.filter(({ block }) => reached.has(block.first));
    graph.unnamed = `no test names ${wanted}; it can reach the marked blocks: `;
  }
  const found = new Set(graph.matches);
  for (const one of graph.nodes) one.element.classList.toggle("found", found.has(one));
  graph.found.setAttribute("d", graph.outline(graph.matches.map((one) => one.block)));
  graph.match = -1;
  if (graph.matches.length) nextMatch(1);
  else byId("graph-status").textContent = wanted === "" ? graph.text : "no block has this text";
}

function nextMatch(step) {
  const count = graph.matches ? graph.matches.length : 0;
  if (!count) return;
  graph.match = (graph.match + step + count) % count;
  const { block } = graph.matches[graph.match];
  centre(block.x + WIDTH / 2, block.y + block.height / 2);
  byId("graph-status").textContent = `${graph.unnamed}block ${graph.match + 1} of ${count}`;
}

function selectBlock(element) {
  const { block } = graph.nodes.find((one) => one.element === element);
  for (const one of graph.nodes) one.element.classList.toggle("selected", one.element === element);
  listings[graph.side].select(block.first);
  byId("programs").scrollIntoView();
}

byId("graph-side").addEventListener("change", drawGraph);
byId("graph-call").addEventListener("input", drawGraph);
byId("graph-in").addEventListener("click", () => scaleGraph(graph.scale * 1.4));
byId("graph-out").addEventListener("click", () => scaleGraph(graph.scale / 1.4));
byId("graph-fit").addEventListener("click", () => scaleGraph(byId("graph-box").clientWidth / graph.width));
byId("graph-start").addEventListener("click", goToStart);
byId("graph-search").addEventListener("input", findInGraph);
byId("graph-search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
});
byId("graph-box").addEventListener("scroll", followView);
window.addEventListener("resize", followView);
byId("graph-map").addEventListener("pointerdown", (event) => {
  byId("graph-map").setPointerCapture(event.pointerId);
  goToMap(event);
});
byId("graph-map").addEventListener("pointermove", (event) => {
  if (event.buttons & 1) goToMap(event);
});
// Dragging moves the picture; a click without dragging selects a block.
byId("graph-box").addEventListener("pointerdown", (event) => {
  const box = byId("graph-box");
  if (event.button !== 0 || event.pointerType === "touch") return;
  graph.press = { x: event.clientX, y: event.clientY, left: box.scrollLeft, top: box.scrollTop };
});
window.addEventListener("pointermove", (event) => {
  if (!graph.press) return;
  const box = byId("graph-box");
  const { x, y, left, top } = graph.press;
  if (Math.abs(event.clientX - x) + Math.abs(event.clientY - y) > 4) box.classList.add("dragged");
  if (!box.classList.contains("dragged")) return;
  box.scrollLeft = left - (event.clientX - x);
  box.scrollTop = top - (event.clientY - y);
});
byId("graph-box").addEventListener("click", (event) => {
  const node = event.target.closest(".node");
  if (node && !byId("graph-box").classList.contains("dragged")) selectBlock(node);
});
window.addEventListener("pointerup", () => {
  graph.press = null;
  setTimeout(() => byId("graph-box").classList.remove("dragged"));  // after the click
});
document.addEventListener("input-chosen", () => {
  if (!graph.picture) return;
  if (byId("graph-call").checked) drawGraph();
  markGraph();
  showPath();
});
// The graph is drawn only when the reader scrolls near it, because a large one takes some tenths of a second.
new IntersectionObserver((entries, observer) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  observer.disconnect();
  if (!graph.picture && examined) drawGraph();
}, { rootMargin: "600px" }).observe(byId("graph-box"));
