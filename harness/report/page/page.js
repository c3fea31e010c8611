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
    // Nearly all rows are covered, and every element counts where there are thousands.
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
  filter(wanted, onlyOdd, executed) {
    this.side.insns.forEach((insn, pc) => {
      const text = (insn[0] + " " + insn[1]).toLowerCase();
      const odd = insn[5].includes("-") || insn[5].includes("!");
      this.rows[pc].hidden =
        (wanted !== "" && !text.includes(wanted)) || (onlyOdd && !odd) || (executed !== undefined && !executed.has(pc));
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

// Both traces of one input, a step at a time.
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
    const moves = { first: () => 0, back: () => this.at - 1, next: () => this.at + 1, last: () => this.count - 1 };
    for (const [id, to] of Object.entries(moves)) byId(id).addEventListener("click", () => this.go(to()));
    byId("steps").addEventListener("keydown", (event) => {
      if (event.target.tagName === "SELECT") return;
      const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: 0, End: this.count - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.go(to);
    });
  }
  choose(index) {
    this.input.value = index;
    const input = data.inputs[index];
    byId("input-text").textContent =
      input.text + (input.words.length ? ": " + input.words.map(([word, value]) => `${word} = ${value}`).join(", ") : "");
    this.steps = SIDES.map((name) => stepsOf(input[name]));
    this.executed = this.steps.map((steps) => new Set(steps.map((step) => step.pc)));
    // Which instruction followed which: both ends of an edge may be executed and the edge not.
    this.taken = this.steps.map((steps) => new Set(steps.slice(1).map((step, i) => `${steps[i].pc}>${step.pc}`)));
    this.count = Math.max(...this.steps.map((steps) => steps.length));
    this.rows = this.steps.map((steps, side) => {
      const insns = data.sides[side].insns;
      const rows = steps.map((step, i) => {
        const [text, , kind, yes] = insns[step.pc];
        let outcome = "";
        if (kind === 1 && i + 1 < steps.length && insns[step.pc][3] !== insns[step.pc][4])
          outcome = steps[i + 1].pc === yes ? " -> true" : " -> false";
        return make("div", `${String(step.pc).padStart(4)}  A=0x${step.a.toString(16).padEnd(8)} X=0x${step.x.toString(16)}  ${text}${outcome}`);
      });
      this.boxes[side].list.replaceChildren(...rows);
      this.boxes[side].result.textContent = `${steps.length} instructions, returns ${input[SIDES[side]].result}`;
      return rows;
    });
    this.listings.forEach((listing, side) => listing.mark(this.executed[side]));
    if (byId("only-executed").checked) filterListings();
    document.dispatchEvent(new CustomEvent("input-chosen"));
    this.go(0);
  }
  go(to) {
    this.at = Math.min(Math.max(to, 0), this.count - 1);
    this.rows.forEach((rows, side) => {
      const at = Math.min(this.at, rows.length - 1);
      rows.forEach((row, i) => row.classList.toggle("now", i === at));
      if (rows[at]) reveal(this.boxes[side].list, rows[at]);
    });
    byId("step").textContent = `step ${this.at + 1} of ${this.count}`;
    // Not disabled, which would take the keyboard away from them.
    for (const id of ["first", "back"]) byId(id).setAttribute("aria-disabled", this.at === 0);
    for (const id of ["last", "next"]) byId(id).setAttribute("aria-disabled", this.at === this.count - 1);
  }
}

function drawDifference() {
  byId("difference-text").textContent = data.difference;
  const rows = data.regions.map((region) => {
    const row = make("tr");
    row.append(make("td", region.calls.join(", ") || "any"), make("td", region.before), make("td", region.after));
    const condition = make("td", region.condition, "cond");
    condition.title = region.summary;
    row.append(condition, make("td", region.count, "num"));
    const cell = make("td");
    if (region.input !== undefined) {
      const button = make("button", "Step");
      button.type = "button";
      button.setAttribute("aria-label", "Step through an input of this row: " + region.summary.slice(0, 80));
      button.addEventListener("click", () => {
        stepper.choose(region.input);
        byId("steps").scrollIntoView();
        byId("next").focus({ preventScroll: true });
      });
      cell.append(button);
    }
    row.append(cell);
    return row;
  });
  byId("difference-rows").append(...rows);
  filterRows(byId("difference-filter"), rows, byId("difference-count"));
  show("difference");
}

function drawCost(cost) {
  const [before, after] = cost.sides;
  const ratio = (a, b) => (a === 0 ? (b === 0 ? "1.00" : "-") : (b / a).toFixed(2));
  const note = cost.sides.every((side) => side.exact) ? "over all inputs" : "from derived inputs where a limit ran out";
  byId("cost-text").textContent =
    `Instructions executed, ${note}; ${cost.profile}. A call executes ${before.mean.toFixed(2)} before and ` +
    `${after.mean.toFixed(2)} after, ratio ${ratio(before.mean, after.mean)} (${ratio(before.uncached, after.uncached)} without ` +
    `the cache). Worst case: ${before.worst} before (${before.worst_input}), ${after.worst} after (${after.worst_input}). ` +
    "A * marks calls that the kernel answers from its cache.";
  const text = ([least, mean, most, cached]) => `${least} / ${mean.toFixed(1)} / ${most}${cached ? " *" : ""}`;
  const rows = cost.rows.map(([name, , was, now]) => {
    const row = make("tr");
    row.append(make("td", name), make("td", text(was), "num"), make("td", text(now), "num"));
    row.append(make("td", ratio(was[1], now[1]), "num " + (now[1] < was[1] ? "less" : now[1] > was[1] ? "more" : "")));
    return row;
  });
  byId("cost-rows").append(...rows);
  filterRows(byId("cost-filter"), rows);
  show("cost");
}

function drawCache(changes) {
  for (const change of changes) {
    const row = make("tr");
    row.append(make("td", change.arch), make("td", change.before, "num"), make("td", change.after, "num"));
    row.append(make("td", change.lost.join(", ") || "none", change.lost.length ? "more" : ""));
    row.append(make("td", change.gained.join(", ") || "none", change.gained.length ? "less" : ""));
    byId("cache-rows").append(row);
  }
  show("cache");
}

function filterListings() {
  const wanted = byId("listing-filter").value.trim().toLowerCase();
  const executed = byId("only-executed").checked && stepper ? stepper.executed : [];
  listings.forEach((listing, side) => listing.filter(wanted, byId("only-infeasible").checked, executed[side]));
}

show("summary");
const listings = data.sides.map((side, index) => new Listing(side, index));
const stepper = data.inputs.length ? new Stepper(listings) : null;
drawDifference();
if (stepper) {
  show("steps");
  stepper.choose(0);
}
show("programs");
for (const id of ["listing-filter", "only-infeasible", "only-executed"]) byId(id).addEventListener("input", filterListings);
show("graph");
if (data.cost) drawCost(data.cost);
if (data.cache.length) drawCache(data.cache);
