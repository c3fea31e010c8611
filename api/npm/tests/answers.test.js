// Compares the module with the command line: whole JSON documents except times. test_npm.py makes the cases (SECEQUIV_CASES) and runs this file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load, SecequivError } from '../secequiv.js';

const secequiv = await load(readFileSync(process.env.SECEQUIV_WASM));
const cases = JSON.parse(readFileSync(process.env.SECEQUIV_CASES, 'utf8'));

function withoutTimes(value) {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.endsWith('seconds') && key !== 'version' && key !== 'name').map(([key, each]) => [key, withoutTimes(each)]));
}

// Returns the document, even of an error.
function documentOf(ask) {
  try {
    return ask().json;
  } catch (error) {
    if (!(error instanceof SecequivError)) throw error;
    return error.json;
  }
}

for (const { question, files, options, document } of cases) {
  test(`${question} ${files.join(' ')} ${JSON.stringify(options)}`, () => {
    const found = documentOf(() => {
      const filters = files.map((name) => secequiv.parse(readFileSync(name), { ...options, name }));
      return secequiv[question](...filters, ...(question === 'cost' && filters.length === 1 ? [null] : []), options);
    });
    assert.deepEqual(withoutTimes(found), withoutTimes(document));
  });
}
