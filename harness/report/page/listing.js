"use strict";
// Both listings side by side. Equal instructions share a row, and an instruction that only one program has stands
// beside a gap. This file also owns which instructions a system call can reach.
const KINDS = ["this instruction", "true", "false"];
// Here, plus and minus mark instructions that only one program has, so the marks of coverage get other signs.
const MARKS = { "+": ["·", "covered"], "-": ["x", "infeasible"], "!": ["?", "open"] };
const MOST_CELLS = 6e7;  // in the table that common() fills
const CONTEXT = 3;       // equal rows shown around a difference

// One listing: a listbox with an option for each instruction.
class Listing {
  constructor(side, index) {
    this.side = side;
    this.head = make("div");
    this.head.append(make("h3", `${SIDES[index]}: ${side.name}, ${counted(side.insns.length, "instruction")}`));
    if (side.refusal) this.head.append(make("p", "not installable: " + side.refusal, "refused"));
    if (side.obligations)
      this.head.append(make("p", `${side.covered} of ${side.obligations} obligations covered by inputs`));
    this.list = make("div", undefined, "list");
    this.list.tabIndex = 0;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", SIDES[index] + ": instructions");
    this.rows = side.insns.map((insn, pc) => this.row(insn, pc));
    const box = make("div");
    box.append(this.head, this.list);
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
    this.list.addEventListener("scroll", () => {
      const other = listings[1 - index].list;
      if (other.scrollTop !== this.list.scrollTop) other.scrollTop = this.list.scrollTop;
      if (other.scrollLeft !== this.list.scrollLeft) other.scrollLeft = this.list.scrollLeft;
    });
  }
  row(insn, pc) {
    const [text, comment, , , , marks] = insn;
    const row = make("div");
    row.dataset.pc = pc;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", "false");
    const number = ` ${String(pc).padStart(4)}  `;
    // Nearly all rows are fully covered. These get fewer elements, because there may be thousands of them.
    if (/^[+]*$/.test(marks)) {
      row.append(make("b", marks.replaceAll("+", MARKS["+"][0]).padEnd(3)), number + text.padEnd(26));
    } else {
      for (let i = 0; i < 3; ++i) row.append(make("span", ...(MARKS[marks[i]] || [" "])));
      row.append(number, make("span", text, marks[0] === "-" ? "infeasible dead" : ""), " ".repeat(Math.max(26 - text.length, 0)));
    }
    if (comment) row.append(make("i", "  ; " + comment));
    return row;
  }
  shows(pc) {
    return !this.rows[pc].hidden && !this.rows[pc].classList.contains("gap");
  }
  move(step) {
    let pc = this.selected === undefined ? (step > 0 ? -1 : this.rows.length) : this.selected;
    const direction = Math.sign(step);
    for (let left = Math.abs(step); left > 0; --left) {
      let to = pc + direction;
      while (to >= 0 && to < this.rows.length && !this.shows(to)) to += direction;
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
    const elsewhere = row.classList.contains("elsewhere") ? " (~ the same test leads elsewhere in the other program)" : "";
    const lines = [`${this.side.name}, instruction ${pc}: ${text}${comment ? "  ; " + comment : ""}${elsewhere}`];
    for (let i = 0; i < marks.length; ++i)
      lines.push(`${KINDS[i]}: ${marks[i] === "+" ? "reached by " : ""}${data.texts[reasons[i]]}`);
    byId("detail").textContent = lines.join("\n");
  }
  fits(pc, wanted, onlyOdd, set) {
    const [text, comment, , , , marks] = this.side.insns[pc];
    return (wanted === "" || `${text} ${comment}`.toLowerCase().includes(wanted)) &&
      (!onlyOdd || /[-!]/.test(marks)) && (!set || set.has(pc));
  }
  mark(executed) {
    this.rows.forEach((row, pc) => row.classList.toggle("ran", executed.has(pc)));
  }
}

// Returns the longest list of pairs [i, j] with a[i] === b[j] in which i and j ascend. If the lists are too long for that,
// pairs only their equal beginnings and their equal ends.
function common(a, b) {
  const same = (i, j) => a[i] === b[j];
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least && same(start, start)) ++start;
  let end = 0;
  while (end < least - start && same(a.length - 1 - end, b.length - 1 - end)) ++end;
  const rows = a.length - start - end;
  const width = b.length - start - end + 1;
  const pairs = Array.from({ length: start }, (_, i) => [i, i]);
  if (rows * width <= MOST_CELLS) {
    const best = new Uint16Array((rows + 1) * width);
    for (let i = rows - 1; i >= 0; --i)
      for (let j = width - 2; j >= 0; --j)
        best[i * width + j] = same(start + i, start + j) ? best[(i + 1) * width + j + 1] + 1
          : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    for (let i = 0, j = 0; i < rows && j < width - 1; ) {
      if (same(start + i, start + j)) pairs.push([start + i++, start + j++]);
      else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) ++i;
      else ++j;
    }
  }
  for (let k = end; k > 0; --k) pairs.push([a.length - k, b.length - k]);
  return pairs;
}

// An instruction without its targets, because one inserted instruction would change the numbers of the targets.
const withoutTargets = ([text, comment, kind]) => `${kind === 1 || kind === 2 ? text.replace(/,? *L\d+.*/, "") : text}|${comment}`;

// The rows of the aligned listings: { pcs: [before, after], state }. An undefined pc is a gap.
// `state` is "same", "only" (in one program) or "elsewhere" (the same test leads elsewhere).
function align() {
  const [a, b] = data.sides.map((side) => side.insns);
  const pairs = common(a.map(withoutTargets), b.map(withoutTargets));
  const partner = new Map(pairs);
  const behindJumps = (insns, pc) => {
    while (insns[pc][2] === 2) pc = insns[pc][3];
    return pc;
  };
  const alike = (from, from2) => {
    const [i, j] = [behindJumps(a, from), behindJumps(b, from2)];
    return partner.get(i) === j || (a[i][2] === 3 && b[j][2] === 3 && a[i][0] === b[j][0]);
  };
  const leadsAlike = ([, , kind, yes, no], [, , , yes2, no2]) =>
    (kind !== 1 && kind !== 2) || (alike(yes, yes2) && (kind === 2 || alike(no, no2)));
  const out = [];
  let [i, j] = [0, 0];
  for (const [to, to2] of [...pairs, [a.length, b.length]]) {
    for (; i < to || j < to2; i = Math.min(i + 1, to), j = Math.min(j + 1, to2))
      out.push({ pcs: [i < to ? i : undefined, j < to2 ? j : undefined], state: "only" });
    if (to < a.length) out.push({ pcs: [i, j], state: leadsAlike(a[i++], b[j++]) ? "same" : "elsewhere" });
  }
  return out;
}

function placeAligned() {
  const classes = { same: ["", ""], elsewhere: ["elsewhere", "elsewhere"], only: ["removed", "inserted"] };
  const counts = { same: 0, elsewhere: 0, removed: 0, inserted: 0 };
  for (const row of aligned) {
    row.cells = row.pcs.map((pc, side) => {
      if (pc === undefined) return make("div", undefined, "gap");
      listings[side].rows[pc].className = classes[row.state][side];
      if (row.state === "only") ++counts[classes.only[side]];
      return listings[side].rows[pc];
    });
    if (row.state !== "only") ++counts[row.state];
  }
  listings.forEach(({ list }, side) => list.append(...aligned.map((row) => row.cells[side])));
  byId("alignment").textContent =
    `${counts.same} instructions are the same, ${counts.removed} only in before, ${counts.inserted} only in after, ${counts.elsewhere} lead elsewhere.`;
}

function filterListings() {
  const wanted = byId("listing-filter").value.trim().toLowerCase();
  const onlyOdd = byId("only-infeasible").checked;
  const executed = byId("only-executed").checked && stepper ? stepper.executed : undefined;
  const reachable = byId("only-reachable").checked && stepper ? stepper.reachable() : undefined;
  const near = (at) => aligned.slice(Math.max(at - CONTEXT, 0), at + CONTEXT + 1).some((row) => row.state !== "same");
  let cut = false;
  aligned.forEach((row, at) => {
    const wants = !byId("only-different").checked || near(at);
    const fits = row.pcs.map((pc, side) => wants && pc !== undefined &&
      listings[side].fits(pc, wanted, onlyOdd, executed && executed[side]) && (!reachable || reachable[side].has(pc)));
    const hidden = !fits.includes(true);
    row.cells.forEach((cell, side) => {
      cell.hidden = hidden;
      cell.classList.toggle("gap", !fits[side]);
      cell.classList.toggle("cut", !hidden && cut);
    });
    cut = hidden;
  });
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

// Executes one instruction. Registers may be unknown (undefined). Returns the outcome of a
// comparison if the registers determine it.
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
// depend on the path to an instruction count as unknown, so the set is never too small.
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
