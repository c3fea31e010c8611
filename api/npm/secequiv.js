// The C interface (api/c/secequiv.h) as an ES module. Owns how JavaScript values reach the WebAssembly module's memory and how results come back.
// It must not know any page.

const VERDICTS = ['error', 'equivalent', 'pass', 'different', 'unknown', 'rejected', 'fail'];
const SAME = ['raw', 'behaviour', 'effect'];
const DATA_BYTES = 64; // struct seccomp_data
const OPTIONS_BYTES = 80; // struct secequiv_options on wasm32
const MEMORY_MIB = 256; // for decision diagrams; the module's whole memory is limited to 512 MiB
const EBADF = 8;

/** An argument or an input is wrong. `verdict` is 'error' or 'rejected'. */
export class SecequivError extends Error {
  constructor(result) {
    super(result.message.trimEnd());
    this.name = 'SecequivError';
    this.verdict = result.verdict;
    this.json = result.json;
  }
}

class MemoryRanOut extends Error {}

/** A program or a policy that was read. */
export class Filter {
  #secequiv;
  #bytes;
  #options;
  #kept = { handle: 0, instance: null };

  constructor(secequiv, bytes, options) {
    this.#secequiv = secequiv;
    this.#bytes = bytes;
    this.#options = options;
  }

  /** Returns the handle in the current instance. A new instance, after an old one broke, reads the filter again. */
  handle() {
    const instance = this.#secequiv.instance();
    if (this.#kept.instance !== instance) {
      this.#kept.handle = instance.parse(this.#bytes, this.#options);
      this.#kept.instance = instance;
      freed.register(this, this.#kept, this);
    }
    return this.#kept.handle;
  }

  get instructions() { return this.#secequiv.program(this).length / 8; }
  get isPolicy() { return this.#secequiv.instance().exports.secequiv_result_is_policy(this.handle()) === 1; }
  get notes() { return this.#secequiv.instance().text('secequiv_result_notes', this.handle()); }
  /** The program as struct sock_filter, little endian. */
  get program() { return this.#secequiv.program(this); }

  free() {
    freed.unregister(this);
    release(this.#kept);
  }
}

function release(kept) {
  if (kept.instance !== null && !kept.instance.broken) kept.instance.exports.secequiv_result_free(kept.handle);
  kept.instance = null;
}
const freed = new FinalizationRegistry(release);

// One instance of the module and its memory.
class Instance {
  broken = false;
  #ranOut;

  constructor(module) {
    const imports = { wasi_snapshot_preview1: {
      clock_time_get: (_clock, _precision, at) => {
        this.view().setBigUint64(at, BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)), true);
        return 0;
      },
      proc_exit: (status) => { throw new WebAssembly.RuntimeError(`the module ended with status ${status}`); },
    } };
    for (const { module: from, name } of WebAssembly.Module.imports(module)) imports[from][name] ??= () => EBADF; // there are no files
    const { exports } = new WebAssembly.Instance(module, imports);
    this.#ranOut = exports.secequiv_module_memory_ran_out;
    this.exports = Object.fromEntries(Object.entries(exports).map(([name, value]) => [name, typeof value === 'function' ? this.#guarded(name, value) : value]));
    this.exports._initialize();
  }

  // Returns the function with errors that say why the instance broke. RangeError: the stack of the engine overflowed.
  #guarded(name, called) {
    return (...values) => {
      try {
        return called(...values);
      } catch (error) {
        this.broken = true;
        if (this.#ranOut() === 1) throw new MemoryRanOut('memory ran out');
        throw new WebAssembly.RuntimeError(`the module trapped in ${name}, which is a bug: ${error.message}`, { cause: error });
      }
    };
  }

  view() { return new DataView(this.exports.memory.buffer); }
  bytes(at, length) { return new Uint8Array(this.exports.memory.buffer, at, length); }

  // Returns the text of a function that returns a C string, or null.
  text(name, handle) {
    const at = this.exports[name](handle);
    if (at === 0) return null;
    const memory = new Uint8Array(this.exports.memory.buffer);
    return new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
  }

  // Calls `work` with functions that copy bytes, texts and options into the module's memory for its duration.
  with(work) {
    const taken = [];
    const allocate = (size) => {
      const at = this.exports.malloc(Math.max(size, 1));
      if (at === 0) {
        this.broken = true;
        throw new MemoryRanOut('memory ran out');
      }
      taken.push(at);
      return at;
    };
    const put = (bytes) => {
      const at = allocate(bytes.length);
      this.bytes(at, bytes.length).set(bytes);
      return at;
    };
    const text = (value) => (value === undefined || value === null ? 0 : put(new TextEncoder().encode(`${value}\0`)));
    const options = (given) => {
      const texts = [given.assume, given.arch, given.form, given.kernel, given.capabilities?.join(','), given.filter, given.policyFormat].map(text);
      const at = allocate(OPTIONS_BYTES);
      this.bytes(at, OPTIONS_BYTES).fill(0);
      const view = this.view();
      view.setUint32(at, OPTIONS_BYTES, true);
      view.setUint32(at + 4, SAME.indexOf(given.same ?? 'raw'), true);
      view.setUint32(at + 8, given.refines ? 1 : 0, true);
      view.setUint32(at + 16, given.anyLength ? 1 : 0, true);
      view.setFloat64(at + 24, given.timeout ?? 0, true);
      view.setBigUint64(at + 32, BigInt(given.maxMemory ?? MEMORY_MIB), true);
      view.setBigUint64(at + 40, BigInt(given.maxRegions ?? 0), true);
      texts.forEach((value, i) => view.setUint32(at + 48 + 4 * i, value, true));
      return at;
    };
    try {
      return work({ allocate, put, text, options });
    } finally {
      if (!this.broken) taken.forEach((at) => this.exports.free(at));
    }
  }

  // Returns the handle of a filter. Throws a SecequivError.
  parse(bytes, options) {
    const handle = this.with((c) => this.exports.secequiv_parse(c.put(bytes), bytes.length, c.text(options.name ?? '<memory>'), c.options(options)));
    if (this.exports.secequiv_result_verdict(handle) === 2) return handle;
    const result = this.result(handle);
    this.exports.secequiv_result_free(handle);
    throw new SecequivError(result);
  }

  result(handle) {
    const json = this.text('secequiv_result_json', handle);
    return {
      verdict: VERDICTS[this.exports.secequiv_result_verdict(handle)],
      holds: this.exports.secequiv_result_holds(handle) === 1,
      message: this.text('secequiv_result_message', handle),
      notes: this.text('secequiv_result_notes', handle),
      json: json === null ? null : JSON.parse(json),
      witness: this.witness(handle),
    };
  }

  witness(handle) {
    return this.with((c) => {
      const at = c.allocate(DATA_BYTES + 8);
      if (this.exports.secequiv_result_witness(handle, at, at + DATA_BYTES, at + DATA_BYTES + 4) !== 1) return null;
      const view = this.view();
      return { data: this.bytes(at, DATA_BYTES).slice(), before: view.getUint32(at + DATA_BYTES, true), after: view.getUint32(at + DATA_BYTES + 4, true) };
    });
  }
}

const asBytes = (input) => (typeof input === 'string' ? new TextEncoder().encode(input) : new Uint8Array(input.buffer ?? input, input.byteOffset ?? 0, input.byteLength));

export class Secequiv {
  #module;
  #instance = null;

  /** Takes a compiled module; load() compiles the package's own. */
  constructor(module) { this.#module = module; }

  /** The current instance. An instance that trapped or ran out of memory is replaced. */
  instance() {
    if (this.#instance === null || this.#instance.broken) this.#instance = new Instance(this.#module);
    return this.#instance;
  }

  get version() { return this.instance().text('secequiv_version', 0); }

  /** Reads a program in any form, or a policy, which is compiled without optimization. Throws a SecequivError. */
  parse(input, options = {}) {
    if (input instanceof Filter) return input;
    const filter = new Filter(this, asBytes(input).slice(), checked(options));
    filter.handle();
    return filter;
  }

  program(filter) {
    return this.instance().with((c) => {
      const { exports } = this.instance();
      const handle = filter.handle();
      const length = c.allocate(4);
      const at = exports.secequiv_result_program(handle, length);
      return this.instance().bytes(at, 8 * this.instance().view().getUint32(length, true)).slice();
    });
  }

  prove(before, after, options = {}) {
    return this.#ask([before, after], options, (c, e, [a, b], o) => e.secequiv_prove_parsed(a, b, o));
  }

  proveProperty(program, property, options = {}) {
    return this.#ask([program], options, (c, e, [a], o) => e.secequiv_prove_property_parsed(a, c.text(property), o));
  }

  diff(before, after, options = {}) {
    return this.#ask([before, after], options, (c, e, [a, b], o) => e.secequiv_diff_parsed(a, b, o));
  }

  /** The message is a whole HTML document. */
  diffPage(before, after, options = {}) {
    return this.#ask([before, after], options, (c, e, [a, b], o) => e.secequiv_diff_page(a, b, o));
  }

  why(program, data, options = {}) {
    return this.#ask([program], options, (c, e, [a], o) => e.secequiv_why_parsed(a, c.put(asBytes(data)), asBytes(data).length, o));
  }

  disassemble(program, options = {}) {
    return this.#ask([program], options, (c, e, [a], o) => e.secequiv_disassemble(a, c.text(options.as), o));
  }

  lift(program, options = {}) {
    return this.#ask([program], options, (c, e, [a], o) => e.secequiv_lift(a, c.text(options.as), o));
  }

  /** The result has the optimized program, too. */
  optimize(program, options = {}) {
    return this.#ask([program], options, (c, e, [a], o) => e.secequiv_optimize(a, o), true);
  }

  actions(program, options = {}) {
    return this.#askPrograms([program], options, (c, e, [a], o) => e.secequiv_actions(...a, o));
  }

  validate(program, options = {}) {
    return this.#askPrograms([program], options, (c, e, [a], o) => e.secequiv_validate(...a, o));
  }

  evaluate(program, data, options = {}) {
    return this.#askPrograms([program], options, (c, e, [a], o) => e.secequiv_evaluate(...a, c.put(asBytes(data)), asBytes(data).length, o));
  }

  cost(before, after = null, options = {}) {
    return this.#askPrograms([before, after], options, (c, e, [a, b], o) => e.secequiv_cost(...a, ...b, c.text(options.profile), o));
  }

  cache(before, after = null, options = {}) {
    return this.#askPrograms([before, after], options, (c, e, [a, b], o) => e.secequiv_cache(...a, ...b, o));
  }

  lint(policy, options = {}) {
    const bytes = asBytes(policy);
    return this.#ask([], options, (c, e, _, o) => e.secequiv_lint(c.put(bytes), bytes.length, c.text(options.name ?? '<memory>'), options.strict ? 1 : 0, o));
  }

  // Asks about filters. Throws a SecequivError for bad arguments, and a RuntimeError if the module traps; a limit gives the verdict 'unknown'.
  #ask(inputs, options, question, withProgram = false) {
    const filters = [];
    try {
      inputs.forEach((input, i) => filters.push(this.parse(input, { ...options, name: inputs.length === 1 ? '<program>' : ['<before>', '<after>'][i] })));
      const instance = this.instance();
      return instance.with((c) => {
        const handle = question(c, instance.exports, filters.map((filter) => filter.handle()), c.options(checked(options)));
        const result = instance.result(handle);
        if (withProgram && result.holds) result.program = this.program({ handle: () => handle });
        instance.exports.secequiv_result_free(handle);
        if (result.verdict === 'error') throw new SecequivError(result);
        return result;
      });
    } catch (error) {
      if (!(error instanceof MemoryRanOut)) throw error;
      return { verdict: 'unknown', holds: false, message: 'unknown: memory ran out\n', notes: '', json: null, witness: null };
    } finally {
      filters.forEach((filter, i) => { if (filter !== inputs[i]) filter.free(); });
    }
  }

  // As #ask(), for functions that take arrays of instructions.
  #askPrograms(inputs, options, question) {
    const given = inputs.filter((input) => input !== null);
    return this.#ask(given, options, (c, e, handles, o) => {
      const programs = handles.map((handle) => {
        const length = c.allocate(4);
        const at = e.secequiv_result_program(handle, length);
        return [at, this.instance().view().getUint32(length, true)];
      });
      while (programs.length < inputs.length) programs.push([0, 0]);
      return question(c, e, programs, o);
    });
  }
}

function checked(options) {
  if (options.same !== undefined && !SAME.includes(options.same)) throw new TypeError(`same: expected ${SAME.join(', ')}, found ${options.same}`);
  return options;
}

/** Compiles the module. `source`: its bytes, a Response, or nothing for the package's own file. */
export async function load(source) {
  const bytes = source instanceof Promise ? await source : source ?? (await own());
  if (bytes instanceof WebAssembly.Module) return new Secequiv(bytes);
  if (typeof Response !== 'undefined' && bytes instanceof Response) return new Secequiv(await WebAssembly.compileStreaming(bytes));
  return new Secequiv(await WebAssembly.compile(bytes));
}

async function own() {
  const url = new URL('./secequiv.wasm', import.meta.url);
  if (url.protocol !== 'file:') return fetch(url);
  const { readFile } = await import('node:fs/promises');
  return readFile(url);
}
