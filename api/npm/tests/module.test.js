// Tests what the package adds to the C interface: values, errors, and the end of memory.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load, Secequiv, SecequivError } from '../secequiv.js';

const bytes = readFileSync(process.env.SECEQUIV_WASM);
const secequiv = await load(bytes);
const BEFORE = 'ld [4]\njneq #0xc000003e, deny\nld [0]\njneq #39, deny\nret #0x7fff0000\ndeny: ret #0x50001\n';
const AFTER = 'ld [4]\njneq #0xc000003e, deny\nld [0]\njneq #39, deny\nret #0\ndeny: ret #0x50001\n';

test('a difference has a witness whose bytes both programs evaluate', () => {
  const result = secequiv.prove(BEFORE, AFTER);
  assert.equal(result.verdict, 'different');
  assert.equal(result.holds, false);
  assert.equal(result.witness.data.length, 64);
  assert.deepEqual([result.witness.before, result.witness.after], [0x7fff0000, 0]);
  assert.match(secequiv.evaluate(BEFORE, result.witness.data).message, /ALLOW/);
  assert.match(secequiv.why(AFTER, result.witness.data).message, /KILL_THREAD/);
});

test('equivalent programs have no witness, and properties hold or fail', () => {
  const result = secequiv.prove(BEFORE, BEFORE, { assume: 'nr in {read, getpid}', same: 'behaviour' });
  assert.deepEqual([result.verdict, result.holds, result.witness], ['equivalent', true, null]);
  assert.equal(secequiv.proveProperty(AFTER, 'when arch == x86_64 && nr == 39: killed').verdict, 'pass');
  assert.equal(secequiv.proveProperty(BEFORE, 'when arch == x86_64 && nr == 39: killed').verdict, 'fail');
});

test('a filter is read once, and freed twice without harm', () => {
  const filter = secequiv.parse(BEFORE, { name: 'before.asm' });
  assert.deepEqual([filter.instructions, filter.isPolicy, filter.program.length], [6, false, 48]);
  assert.equal(secequiv.prove(filter, AFTER).verdict, 'different');
  filter.free();
  filter.free();
  assert.equal(secequiv.prove(filter, filter).verdict, 'equivalent');
});

test('a lifted and an optimized filter decide the same', () => {
  assert.equal(secequiv.prove(BEFORE, secequiv.lift(BEFORE).message).verdict, 'equivalent');
  const optimized = secequiv.optimize(BEFORE);
  assert.equal(secequiv.prove(BEFORE, optimized.program).verdict, 'equivalent');
  assert.match(secequiv.disassemble(BEFORE, { arch: 'x86_64' }).message, /getpid/);
  assert.match(secequiv.diffPage(BEFORE, AFTER).message, /^<!DOCTYPE html>/);
  assert.match(secequiv.actions(BEFORE).message, /getpid/);
  assert.equal(secequiv.cost(BEFORE, AFTER).verdict, 'pass');
  assert.equal(secequiv.cache(BEFORE).verdict, 'pass');
});

test('doubtful rules of a policy fail only if asked for', () => {
  const rules = { read: { args: { 0: { le: 2 ** 32 - 1, bits: 32 } } } }; // every value satisfies this condition
  const policy = JSON.stringify({ version: 1, arches: ['x86_64'], default_action: 'errno(1)', rule_sets: [{ action: 'allow', rules }] });
  for (const [options, verdict] of [[{}, 'pass'], [{ strict: false }, 'pass'], [{ strict: true }, 'fail']]) {
    const result = secequiv.lint(policy, options);
    assert.deepEqual([result.verdict, result.json.warnings.length], [verdict, 1]);
  }
});

test('bad input is an error with a place, and bad options are errors', () => {
  assert.throws(() => secequiv.parse('ret 1 2', { name: 'x.asm' }), (error) => error instanceof SecequivError && error.verdict === 'error' && error.message.startsWith('x.asm:1'));
  assert.throws(() => secequiv.prove(BEFORE, AFTER, { arch: 'vax' }), /options.arch/);
  assert.throws(() => secequiv.prove(BEFORE, AFTER, { same: 'almost' }), TypeError);
  assert.throws(() => secequiv.parse(new Uint8Array((16 << 20) + 1)), SecequivError);
  assert.equal(secequiv.validate('ld [0]\n').verdict, 'rejected');
  assert.equal(secequiv.prove('ld [0]\n', BEFORE).verdict, 'rejected');
});

test('engines that need foreign libraries say that they are absent', () => {
  const hard = (constant) => `ld [16]\ntax\nld [24]\nmul x\ntax\nld [32]\nmul x\njneq #${constant}, deny\nret #0x7fff0000\ndeny: ret #0\n`;
  const result = secequiv.prove(hard(3), hard(3).replace('mul x\njneq', 'mul x\nadd #1\nsub #1\njneq'), { timeout: 2, maxMemory: 16 });
  assert.ok(['unknown', 'equivalent'].includes(result.verdict));
  if (result.verdict === 'unknown') assert.match(result.message, /not in this build/);
});

// Takes all memory of an instance but `left` bytes.
function fill({ exports }, left) {
  const kept = exports.malloc(left);
  for (const size of [1 << 26, 1 << 20, 1 << 10, 1]) while (exports.malloc(size) !== 0);
  exports.free(kept);
}

test('memory that runs out is unknown, and a trap is an error; then a new instance answers about the same filters', () => {
  const own = new Secequiv(new WebAssembly.Module(bytes));
  const filter = own.parse(BEFORE);
  const breaks = [
    () => assert.throws(() => own.instance().with((c) => { c.allocate(0x7ffffff0); }), /^Error: memory ran out$/),
    () => {
      fill(own.instance(), 4096); // enough for the arguments, not for a proof
      assert.equal(own.prove(filter, AFTER).message, 'unknown: memory ran out\n');
    },
    () => assert.throws(() => own.instance().exports.secequiv_result_message(0x7fffffff), (error) => (
      error instanceof WebAssembly.RuntimeError && error.message.startsWith('the module trapped in secequiv_result_message, which is a bug: '))),
  ];
  for (const each of breaks) {
    const { exports } = own.instance();
    each();
    assert.notEqual(own.instance().exports, exports);
    assert.equal(own.prove(filter, AFTER).verdict, 'different');
  }
});
