"use strict";
// The page's tables, listings and steps. Names and conditions come from untrusted files, so they are
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
const KINDS = ["this instruction", "true", "false"];
const MARKS = { "+": "covered", "-": "infeasible", "!": "open" };

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

function filterRows(input, rows, status) {
  const apply = () => {
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) ++shown;
    }
    if (status) status.textContent = rows.length ? `${shown} of ${rows.length}` : "";
  };
  input.addEventListener("input", apply);
  apply();
}

function show(id) {
  byId(id).hidden = false;
  const link = make("a", byId(id).querySelector("h2").textContent);
  link.href = "#" + id;
  document.querySelector("nav").append(link);
}

// One listing: an option of the list for each instruction.
class Listing {
  constructor(side, index) {
    this.side = side;
    const box = make("div");
    box.append(make("h3", `${SIDES[index]}: ${side.name}, ${side.insns.length} instructions`));
    if (side.refusal) box.append(make("p", "not installable: " + side.refusal, "open"));
    if (side.obligations)
      box.append(make("p", `${side.covered} of ${side.obligations} obligations covered by inputs`));
    this.list = make("div", undefined, "list");
    this.list.tabIndex = 0;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", SIDES[index] + ": instructions");
    this.rows = side.insns.map((insn, pc) => this.row(insn, pc));
    this.list.append(...this.rows);
    box.append(this.list);
    byId("listings").append(box);
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest("[data-pc]");
      if (row) this.select(Number(row.dataset.pc));
    });
    this.list.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.move(step);
    });
  }
  row(insn, pc) {
    const [text, comment, , , , marks] = insn;
    const row = make("div");
    row.dataset.pc = pc;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", "false");
    const number = ` ${String(pc).padStart(4)}  `;
    // Nearly all rows are covered; with thousands of rows, fewer elements make the page faster.
    if (/^[+]*$/.test(marks)) {
      row.append(make("b", marks.padEnd(3)), number + text.padEnd(26));
    } else {
      for (let i = 0; i < 3; ++i) row.append(make("span", marks[i] || " ", MARKS[marks[i]] || ""));
      row.append(number, make("span", text, marks[0] === "-" ? "infeasible dead" : ""), " ".repeat(Math.max(26 - text.length, 0)));
    }
    if (comment) row.append(make("i", "; " + comment));
    return row;
  }
  move(step) {
    let pc = this.selected === undefined ? (step > 0 ? -1 : this.rows.length) : this.selected;
    const direction = Math.sign(step);
    for (let left = Math.abs(step); left > 0; --left) {
      let to = pc + direction;
      while (to >= 0 && to < this.rows.length && this.rows[to].hidden) to += direction;
      if (to < 0 || to >= this.rows.length) break;
      pc = to;
    }
    if (pc >= 0 && pc < this.rows.length) this.select(pc);
  }
  select(pc) {
    if (this.selected !== undefined) this.rows[this.selected].setAttribute("aria-selected", "false");
    this.selected = pc;
    const row = this.rows[pc];
    row.setAttribute("aria-selected", "true");
    reveal(this.list, row);
    const [text, comment, , , , marks, reasons] = this.side.insns[pc];
    const lines = [`${this.side.name}, instruction ${pc}: ${text}${comment ? "  ; " + comment : ""}`];
    for (let i = 0; i < marks.length; ++i)
      lines.push(`${KINDS[i]}: ${marks[i] === "+" ? "reached by " : ""}${data.texts[reasons[i]]}`);
    byId("detail").textContent = lines.join("\n");
  }
  filter(wanted, onlyOdd, sets) {
    this.side.insns.forEach((insn, pc) => {
      const text = (insn[0] + " " + insn[1]).toLowerCase();
      const odd = insn[5].includes("-") || insn[5].includes("!");
      this.rows[pc].hidden =
        (wanted !== "" && !text.includes(wanted)) || (onlyOdd && !odd) || sets.some((set) => !set.has(pc));
    });
  }
  mark(executed) {
    this.rows.forEach((row, pc) => row.classList.toggle("ran", executed.has(pc)));
  }
}

// Scrolls inside the box only: the page itself stays where the reader is.
function reveal(box, row) {
  const top = row.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top + row.offsetHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = top - box.clientHeight / 2;
}

// Arithmetic on known values, as the kernel does it.
const ARITHMETIC = {
  add: (a, b) => a + b, sub: (a, b) => a - b, mul: (a, b) => Number((BigInt(a) * BigInt(b)) & 0xffffffffn),
  div: (a, b) => (b === 0 ? undefined : Math.floor(a / b)), and: (a, b) => a & b, or: (a, b) => a | b, xor: (a, b) => a ^ b,
  lsh: (a, b) => (b > 31 ? undefined : a << b), rsh: (a, b) => (b > 31 ? undefined : a >>> b),
};
const COMPARISONS = {
  jeq: (a, b) => a === b, jgt: (a, b) => a > b, jge: (a, b) => a >= b, jset: (a, b) => (a & b) !== 0,
};

// Executes one instruction on registers of which some are unknown (undefined). Returns the outcome
// of a comparison if the registers determine it.
function execute(text, state, nr, arch) {
  const [name, operand = ""] = text.split(/[ ,]+/);
  const cell = /^M\[(\d+)\]$/.exec(text.slice(name.length + 1));
  const load = () =>
    operand === "[0]" ? nr : operand === "[4]" ? arch : cell ? state[2 + Number(cell[1])]
    : text.endsWith("#len") ? 64 : /^#\d/.test(operand) ? Number(operand.slice(1)) : undefined;
  const value = () => (operand === "x" ? state[1] : Number(operand.slice(1)));
  if (name in COMPARISONS) {
    const right = value();
    return state[0] === undefined || right === undefined ? undefined : COMPARISONS[name](state[0], right);
  }
  if (name === "ld") state[0] = load();
  else if (name === "ldx") state[1] = load();
  else if (name === "st") state[2 + Number(cell[1])] = state[0];
  else if (name === "stx") state[2 + Number(cell[1])] = state[1];
  else if (name === "tax") state[1] = state[0];
  else if (name === "txa") state[0] = state[1];
  else if (name !== "ja" && name !== "ret") {
    const right = name === "neg" ? 0 : value();
    const result = name === "neg" && state[0] !== undefined ? -state[0]
      : state[0] === undefined || right === undefined || !(name in ARITHMETIC) ? undefined : ARITHMETIC[name](state[0], right);
    state[0] = result === undefined ? undefined : result >>> 0;
  }
  return undefined;
}

// The instructions that some input with this number and architecture may execute. Values that
// depend on the way to an instruction count as unknown, so the set is never too small.
function reachableBy(insns, nr, arch) {
  const states = [];
  states[0] = [0, 0, ...Array(16).fill(0)];
  const enter = (pc, state) => {
    const known = states[pc];
    states[pc] = known ? known.map((value, i) => (value === state[i] ? value : undefined)) : [...state];
  };
  insns.forEach(([text, , kind, yes, no], pc) => {  // jumps only go forward
    if (!states[pc]) return;
    const outcome = execute(text, states[pc], nr, arch);
    if (kind === 0 && pc + 1 < insns.length) enter(pc + 1, states[pc]);
    if (kind === 2) enter(yes, states[pc]);
    if (kind === 1 && outcome !== false) enter(yes, states[pc]);
    if (kind === 1 && outcome !== true) enter(no, states[pc]);
    states[pc] = true;
  });
  return new Set(insns.map((_, pc) => pc).filter((pc) => states[pc]));
}

// The longest list of pairs [i, j] with a[i] === b[j], both ascending; undefined equals nothing.
function common(a, b) {
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; --i)
    for (let j = b.length - 1; j >= 0; --j)
      best[i * width + j] = a[i] !== undefined && a[i] === b[j] ? best[(i + 1) * width + j + 1] + 1
        : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] !== undefined && a[i] === b[j]) pairs.push([i++, j++]);
    else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) ++i;
    else ++j;
  }
  return pairs;
}

const LEAST_FOLDED = 3;  // comparisons

// One side's steps of one input: their rows, and which of them are folded.
class TraceView {
  constructor(box, insns, trace) {
    this.list = box.list;
    this.steps = stepsOf(trace);
    this.insns = insns;
    this.failed = this.steps.map(({ pc }, i) => insns[pc][2] === 2 || this.outcome(i) === false);
    // The effect of a step, independent of its place in the program.
    this.keys = this.steps.map(({ pc, a }, i) =>
      insns[pc][2] === 2 ? undefined : [insns[pc][1] || insns[pc][0].replace(/, L.*/, ""), a, this.outcome(i)].join());
    const usesX = this.steps.some((step) => step.x);
    this.rows = this.steps.map(({ pc, a, x }, i) => {
      const [text, comment] = insns[pc];
      const outcome = { true: " -> true", false: " -> false" }[this.outcome(i)] || "";
      const row = make("div", `${String(pc).padStart(4)}  A=0x${a.toString(16).padEnd(8)} ${usesX ? `X=0x${x.toString(16).padEnd(8)} ` : ""}${(text + outcome).padEnd(36)}`);
      if (comment) row.append(make("i", "; " + comment));
      row.dataset.step = i;
      return row;
    });
    box.result.textContent = `${this.steps.length} instructions, returns ${trace.result}`;
  }
  // Whether a comparison was true; undefined for other steps.
  outcome(i) {
    const [, , kind, yes, no] = this.insns[this.steps[i].pc];
    return kind === 1 && yes !== no && i + 1 < this.steps.length ? this.steps[i + 1].pc === yes : undefined;
  }
  // The end of the run of failed comparisons, and jumps between them, that starts here.
  runEnd(i) {
    while (i < this.steps.length && this.failed[i]) ++i;
    return i;
  }
  foldable(i) {
    return this.steps.slice(i, this.runEnd(i)).filter(({ pc }) => this.insns[pc][2] === 1).length >= LEAST_FOLDED;
  }
  // Runs of failed comparisons become one row each; `open` holds the first steps of those that stay.
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
  // The visible row of a step.
  at(step) {
    let found = 0;
    this.shown.forEach((one, i) => { if (one.step <= step) found = i; });
    return found;
  }
}

// Both traces of one input, a step at a time. Steps that both have are passed together.
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
  }
  // Left, right and d work anywhere but in fields and in boxes that scroll sideways themselves.
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
    const words = new Map(input.words.map(([word, value]) => [word, Number(value)]));
    this.call = [words.get("nr") || 0, words.get("arch") || 0];
    byId("reachable-call").textContent = input.text.replace(/ ip=.*/, "");
    this.views = SIDES.map((name, side) => new TraceView(this.boxes[side], data.sides[side].insns, input[name]));
    this.executed = this.views.map(({ steps }) => new Set(steps.map((step) => step.pc)));
    // Which instruction followed which: both ends of an edge may be executed and the edge not.
    this.taken = this.views.map(({ steps }) => new Set(steps.slice(1).map((step, i) => `${steps[i].pc}>${step.pc}`)));
    this.pairs = common(this.views[0].keys, this.views[1].keys);
    this.open = [new Set(), new Set()];
    this.findParting(input.before.result !== input.after.result);
    this.listings.forEach((listing, side) => listing.mark(this.executed[side]));
    if (byId("only-executed").checked || byId("only-reachable").checked) filterListings();
    document.dispatchEvent(new CustomEvent("input-chosen"));
    this.moves = undefined;
    this.arrange();
  }
  // The first steps after the last one that both traces have, failed comparisons aside.
  findParting(differs) {
    const last = this.pairs.length ? this.pairs[this.pairs.length - 1] : [-1, -1];
    this.parting = differs ? this.views.map((view, side) => {
      let step = last[side] + 1;
      if (view.foldable(step)) step = view.runEnd(step);
      while (view.failed[step] && view.outcome(step) === undefined) ++step;  // jumps
      return Math.min(step, view.steps.length - 1);
    }) : null;
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
    this.views.forEach((view, side) => view.fold(byId("fold").checked, this.open[side]));
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
    // They are not disabled, because a disabled button loses the keyboard focus.
    for (const id of ["first", "back"]) byId(id).setAttribute("aria-disabled", this.at === 0);
    for (const id of ["last", "next"]) byId(id).setAttribute("aria-disabled", this.at === this.moves.length - 1);
  }
}

// The tables are in the page already; they get filters and buttons.
function enhance(id) {
  const filter = byId(id + "-filter");
  if (filter) filterRows(filter, [...byId(id + "-rows").rows], byId(id + "-count"));
  if (byId(id)) show(id);
}

function addStepButtons() {
  for (const row of document.querySelectorAll("#difference-rows tr[data-input]")) {
    const button = make("button", "Step");
    button.type = "button";
    button.setAttribute("aria-label", "Step through an input of this row: " + row.cells[4].textContent.slice(0, 80));
    button.addEventListener("click", () => {
      stepper.choose(Number(row.dataset.input));
      byId("steps").scrollIntoView();
      byId("next").focus({ preventScroll: true });
    });
    row.lastElementChild.append(button);
  }
}

function filterListings() {
  const wanted = byId("listing-filter").value.trim().toLowerCase();
  const only = [];
  if (byId("only-executed").checked && stepper) only.push(stepper.executed);
  if (byId("only-reachable").checked && stepper) only.push(stepper.reachable());
  listings.forEach((listing, side) =>
    listing.filter(wanted, byId("only-infeasible").checked, only.map((sets) => sets[side])));
}

document.documentElement.classList.add("scripted");
enhance("difference");
show("summary");
const examined = data.sides.every((side) => side.insns.length);
const listings = examined ? data.sides.map((side, index) => new Listing(side, index)) : [];
const stepper = data.inputs.length ? new Stepper(listings) : null;
if (stepper) {
  addStepButtons();
  show("steps");
  stepper.choose(0);
}
if (examined) {
  show("programs");
  for (const id of ["listing-filter", "only-infeasible", "only-executed", "only-reachable"])
    byId(id).addEventListener("input", filterListings);
  show("graph");
}
for (const id of ["cost", "cache", "provenance"]) enhance(id);
