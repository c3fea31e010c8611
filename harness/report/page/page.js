// The page's tables and steps. Names and conditions come from untrusted files, so they are
// inserted as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const make = (tag, text, name) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
};
const SIDES = ["before", "after"];
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// Traces are stored as runs of instructions and changes of registers.
function stepsOf(trace) {
  const steps = [];
  for (let i = 0; i < trace.runs.length; i += 2)
    for (let k = 0; k < trace.runs[i + 1]; ++k) steps.push({ pc: trace.runs[i] + k, a: 0, x: 0 });
  for (const register of ["a", "x"]) {
    const changes = trace[register];
    let value = 0;
    for (let i = 0, at = 0; i < steps.length; ++i) {
      if (at < changes.length && changes[at] === i) {
        value = changes[at + 1];
        at += 2;
      }
      steps[i][register] = value;
    }
  }
  return steps;
}

// Pairs of steps that both traces have are stored as runs.
function pairsOf(runs) {
  const pairs = [];
  for (let i = 0; i < runs.length; i += 3)
    for (let k = 0; k < runs[i + 2]; ++k) pairs.push([runs[i] + k, runs[i + 1] + k]);
  return pairs;
}

// `changed` is a checkbox that hides rows without a coloured cell, or null.
function filterRows(input, rows, status, changed) {
  const apply = () => {
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = (wanted !== "" && !row.textContent.toLowerCase().includes(wanted)) ||
        (changed !== null && changed.checked && !row.querySelector("td.less, td.more"));
      if (!row.hidden) ++shown;
    }
    if (status) status.textContent = rows.length ? `${shown} of ${rows.length}` : "";
  };
  for (const field of [input, changed]) if (field) field.addEventListener("input", apply);
  apply();
}

function show(id) {
  byId(id).hidden = false;
  const link = make("a", byId(id).querySelector("h2").textContent);
  link.href = "#" + id;
  document.querySelector("nav").append(link);
}

// Scrolls inside the box only: the page itself stays where the reader is.
function reveal(box, row) {
  const top = row.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top + row.offsetHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = top - box.clientHeight / 2;
}

const LEAST_FOLDED = 3;  // comparisons in a run
const PRINT = matchMedia("print");  // nothing is folded on paper

// The steps of one program on one input: their rows, and which rows are folded.
class TraceView {
  constructor(box, insns, trace) {
    this.list = box.list;
    this.steps = stepsOf(trace);
    this.insns = insns;
    this.failed = this.steps.map(({ pc }, i) => insns[pc][2] === 2 || this.outcome(i) === false);
    const usesX = this.steps.some((step) => step.x);
    const tests = this.steps.map(({ pc }, i) => insns[pc][0] + ({ true: " -> true", false: " -> false" }[this.outcome(i)] || ""));
    const width = tests.reduce((most, test) => Math.max(most, test.length), 0);
    this.rows = this.steps.map(({ pc, a, x }, i) => {
      const comment = insns[pc][1];
      const row = make("div", `${String(pc).padStart(4)}  A=0x${a.toString(16).padEnd(8)} ${usesX ? `X=0x${x.toString(16).padEnd(8)} ` : ""}${tests[i].padEnd(width)}  `);
      if (comment) row.append(make("i", "; " + comment));
      row.dataset.step = i;
      return row;
    });
    box.result.textContent = `${counted(this.steps.length, "instruction")}, returns ${trace.result}`;
  }
  // Whether a comparison was true; undefined for other steps.
  outcome(i) {
    const [, , kind, yes, no] = this.insns[this.steps[i].pc];
    return kind === 1 && yes !== no && i + 1 < this.steps.length ? this.steps[i + 1].pc === yes : undefined;
  }
  // Returns the step after the run that starts at step `i`. A run consists of failed comparisons and the jumps between them.
  runEnd(i) {
    while (i < this.steps.length && this.failed[i]) ++i;
    return i;
  }
  foldable(i) {
    return this.steps.slice(i, this.runEnd(i)).filter(({ pc }) => this.insns[pc][2] === 1).length >= LEAST_FOLDED;
  }
  // Rebuilds the list. With `folds`, each long run becomes one row, except the runs whose first step is in `open`.
  fold(folds, open) {
    this.shown = [];  // visible rows, each with its first step
    const rows = [];
    for (let i = 0; i < this.steps.length; ++i) {
      const end = this.runEnd(i);
      if (!folds || !this.foldable(i) || open.has(i)) {
        for (const last = Math.max(end - 1, i); ; ++i) {
          rows.push(this.rows[i]);
          this.shown.push({ step: i, row: this.rows[i] });
          if (i === last) break;
        }
        continue;
      }
      const tests = this.steps.slice(i, end).filter(({ pc }) => this.insns[pc][2] === 1).map(({ pc }) => this.insns[pc][1] || this.insns[pc][0]);
      const row = make("div", "", "fold");
      const button = make("button", `… ${tests.length} failed comparisons: ${tests[0]} to ${tests[tests.length - 1]}`);
      button.type = "button";
      button.dataset.fold = i;
      row.append(button);
      rows.push(row);
      this.shown.push({ step: i, row });
      i = end - 1;
    }
    this.list.replaceChildren(...rows);
  }
  // Returns the index of the visible row that contains the step.
  at(step) {
    let found = 0;
    this.shown.forEach((one, i) => { if (one.step <= step) found = i; });
    return found;
  }
}

// Steps through both traces of one input. A step that both traces have is taken in both at once.
class Stepper {
  constructor(listings) {
    this.listings = listings;
    this.at = 0;
    this.input = byId("input");
    data.inputs.forEach((input, index) => {
      const option = make("option", `${input.label}: ${input.text}`.slice(0, 120));
      option.value = index;
      this.input.append(option);
    });
    this.boxes = SIDES.map((name) => {
      const box = make("div");
      box.append(make("h3", name));
      const result = make("p");
      const list = make("div", undefined, "list steps-list");
      list.tabIndex = 0;
      list.setAttribute("role", "region");
      list.setAttribute("aria-label", name + ": executed instructions");
      box.append(result, list);
      byId("step-sides").append(box);
      return { list, result };
    });
    this.input.addEventListener("change", () => this.choose(Number(this.input.value)));
    byId("fold").addEventListener("input", () => this.arrange());
    this.boxes.forEach(({ list }, side) => list.addEventListener("click", (event) => {
      const { fold } = event.target.dataset;
      if (fold === undefined) return;
      this.open[side].add(Number(fold));
      this.arrange();
      list.focus({ preventScroll: true });
    }));
    const moves = { first: () => 0, back: () => this.at - 1, next: () => this.at + 1, last: () => this.moves.length - 1 };
    for (const [id, to] of Object.entries(moves)) byId(id).addEventListener("click", () => this.go(to()));
    byId("part").addEventListener("click", () => this.goToParting());
    document.addEventListener("keydown", (event) => this.key(event));
    PRINT.addEventListener("change", () => this.arrange());
  }
  // The keys Left, Right and d work everywhere except in fields and in the graph, which the arrow keys scroll.
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, #graph-box")) return;
    const inside = byId("steps").contains(event.target);
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: inside ? 0 : undefined, End: inside ? this.moves.length - 1 : undefined }[event.key];
    if (to === undefined && event.key !== "d") return;
    event.preventDefault();
    if (event.key === "d") this.goToParting();
    else this.go(to);
    if (!inside) byId("step-sides").scrollIntoView({ block: "nearest" });
  }
  choose(index) {
    this.input.value = index;
    const input = data.inputs[index];
    byId("input-text").textContent =
      input.text + (input.words.length ? ": " + input.words.map(([word, value]) => `${word} = ${value}`).join(", ") : "");
    this.call = [input.nr, input.arch];
    byId("reachable-call").textContent = input.call;
    this.views = SIDES.map((name, side) => new TraceView(this.boxes[side], data.sides[side].insns, input[name]));
    this.executed = this.views.map(({ steps }) => new Set(steps.map((step) => step.pc)));
    // Records which instruction followed which: an execution can visit both ends of an edge without taking it.
    this.taken = this.views.map(({ steps }) => new Set(steps.slice(1).map((step, i) => `${steps[i].pc}>${step.pc}`)));
    this.pairs = pairsOf(input.pairs);
    this.open = [new Set(), new Set()];
    this.showParting(input.parting);
    this.listings.forEach((listing, side) => listing.mark(this.executed[side]));
    if (byId("only-executed").checked || byId("only-reachable").checked) filterListings();
    document.dispatchEvent(new CustomEvent("input-chosen"));
    this.moves = undefined;
    this.arrange();
  }
  // Marks the steps at which the traces part. Their rows are never folded.
  showParting(parting) {
    this.parting = parting ?? null;
    if (parting) this.views.forEach((view, side) => { view.failed[parting[side]] = false; });
    this.views.forEach((view, side) => view.rows.forEach((row, i) => row.classList.toggle("parts", this.parting !== null && this.parting[side] === i)));
    byId("part").setAttribute("aria-disabled", this.parting === null);
  }
  reachable() {
    return data.sides.map((side) => reachableBy(side.insns, ...this.call));
  }
  // Computes the order in which the stepper visits the visible rows of both sides.
  arrange() {
    const here = this.moves ? this.moves[this.at] : undefined;
    const steps = here && here.map((row, side) => this.shownSteps[side][row]);
    this.views.forEach((view, side) => view.fold(byId("fold").checked && !PRINT.matches, this.open[side]));
    this.shownSteps = this.views.map((view) => view.shown.map((one) => one.step));
    const anchors = this.pairs.map((pair) => pair.map((step, side) => this.views[side].at(step)));
    if (this.parting) anchors.push(this.parting.map((step, side) => this.views[side].at(step)));
    anchors.push(this.views.map((view) => view.shown.length - 1));
    this.moves = [[0, 0]];
    for (const to of anchors) {
      let [i, j] = this.moves[this.moves.length - 1];
      while (i < to[0] || j < to[1]) {
        if (i < to[0]) ++i;
        if (j < to[1]) ++j;
        this.moves.push([i, j]);
      }
    }
    this.go(steps ? this.moveTo(steps) : 0);
  }
  moveTo(steps) {
    const rows = steps.map((step, side) => this.views[side].at(step));
    const found = this.moves.findIndex(([i, j]) => i >= rows[0] && j >= rows[1]);
    return found < 0 ? this.moves.length - 1 : found;
  }
  goToParting() {
    if (this.parting) this.go(this.moveTo(this.parting));
    else byId("step").textContent = "both traces end in the same way";
  }
  go(to) {
    this.at = Math.min(Math.max(to, 0), this.moves.length - 1);
    this.moves[this.at].forEach((at, side) => {
      const { shown, list } = this.views[side];
      for (const row of list.querySelectorAll(".now")) row.classList.remove("now");
      shown[at].row.classList.add("now");
      reveal(list, shown[at].row);
    });
    byId("step").textContent = `step ${this.at + 1} of ${this.moves.length}`;
    // The buttons are not disabled, because a disabled button loses the keyboard focus.
    for (const id of ["first", "back"]) byId(id).setAttribute("aria-disabled", this.at === 0);
    for (const id of ["last", "next"]) byId(id).setAttribute("aria-disabled", this.at === this.moves.length - 1);
  }
}

// Shows a section that the page already contains, and lets its field filter the rows of its table.
function enhance(id) {
  const filter = byId(id + "-filter");
  if (filter) filterRows(filter, [...byId(id + "-rows").rows], byId(id + "-count"), byId(id + "-changed"));
  if (byId(id)) show(id);
}

function addStepButtons() {
  for (const item of document.querySelectorAll("#difference-rows li[data-input]")) {
    const button = make("button", "Step", "step");
    button.type = "button";
    button.setAttribute("aria-label", "Step through an input of this row: " + item.textContent.slice(0, 80));
    button.addEventListener("click", () => {
      stepper.choose(Number(item.dataset.input));
      byId("steps").scrollIntoView();
      byId("next").focus({ preventScroll: true });
    });
    item.prepend(button);
  }
}

const MOST_CONDITIONS = 3;  // shown in each row until the reader asks for more

function foldConditions() {
  for (const list of document.querySelectorAll("#difference-rows ul")) {
    const more = list.children.length - MOST_CONDITIONS;
    if (more < 2) continue;
    list.classList.add("folded");
    const button = make("button", `${more} more conditions`, "script");
    button.type = "button";
    button.addEventListener("click", () => {
      const folded = list.classList.toggle("folded");
      button.textContent = folded ? `${more} more conditions` : "fewer conditions";
    });
    list.after(button);
  }
}

// Long lists of names are closed on screens; paper and readers without JavaScript see all of them.
function foldNames() {
  const fold = () => {
    for (const names of document.querySelectorAll("details")) names.open = PRINT.matches;
  };
  PRINT.addEventListener("change", fold);
  fold();
}

document.documentElement.classList.add("scripted");
foldNames();
foldConditions();
enhance("difference");
show("summary");
enhance("notes");
const examined = data.sides.every((side) => side.insns.length);
const listings = examined ? data.sides.map((side, index) => new Listing(side, index)) : [];
const aligned = examined ? align() : [];
if (examined) placeAligned();
const stepper = data.inputs.length ? new Stepper(listings) : null;
if (stepper) {
  addStepButtons();
  show("steps");
  stepper.choose(0);
}
if (examined) {
  show("programs");
  for (const id of ["listing-filter", "only-different", "only-infeasible", "only-executed", "only-reachable"])
    byId(id).addEventListener("input", filterListings);
  show("graph");
}
for (const id of ["cost", "cache", "provenance"]) enhance(id);
