// Answers one question at a time, in a Worker. The page ends the Worker to cancel. It must not know the page.
/* global Secequiv, SecequivError, checkedBytes */

let secequiv = null;

function pieces(ask, { before, after }) {
  if (after === null) return ask(before);
  return [['Before', before], ['After', after]].map(([title, filter]) => {
    let text;
    try {
      text = ask(filter);
    } catch (error) {
      if (!(error instanceof SecequivError)) throw error;
      text = `${error.message}\n`;
    }
    return `${title}\n\n${text}`;
  }).join('\n');
}

const withNotes = (result) => (result.notes ? `${result.notes}\n` : '') + result.message;

const QUESTIONS = {
  prove: ({ before, after }, o) => secequiv.prove(before, after, o),
  report: ({ before, after }, o) => ({ html: secequiv.diffPage(before, after, { ...o, maxRegions: 200 }) }),
  diff: ({ before, after }, o) => ({ text: secequiv.diff(before, after, o).message }),
  actions: (f, o) => ({ text: pieces((one) => secequiv.actions(one, { ...o, same: o.same === 'effect' ? 'raw' : o.same }).message, f) }),
  lift: (f, o) => ({ text: pieces((one) => withNotes(secequiv.lift(one, { ...o, as: 'text' })), f) }),
  json: (f, o) => ({ text: pieces((one) => secequiv.lift(one, o).message, f) }),
  dis: (f, o) => ({ text: pieces((one) => secequiv.disassemble(one, o).message, f) }),
  optimize: (f, o) => ({ text: pieces((one) => withNotes(secequiv.optimize(one, o)), f) }),
  cost: ({ before, after }, o) => ({ text: secequiv.cost(before, after, o).message }),
};

function parsed(text, name, options) {
  if (text.trim() === '') return null;
  return secequiv.parse(checkedBytes(text), { ...options, name });
}

function answer({ question, before, after, options }) {
  const filters = { before: parsed(before, 'before', options), after: parsed(after, 'after', options) };
  const described = (f) => f && `${f.isPolicy ? 'policy, compiled' : 'program'}, ${f.instructions} instructions`;
  const forms = [described(filters.before), described(filters.after)];
  try {
    const start = performance.now();
    const out = QUESTIONS[question](filters, options);
    return { ...out, forms, milliseconds: performance.now() - start };
  } finally {
    filters.before?.free();
    filters.after?.free();
  }
}

let ready = null; // the module is compiled while the first question arrives

self.onmessage = async ({ data }) => {
  if (data.module) {
    ready = WebAssembly.compile(data.module);
    return;
  }
  if (secequiv === null) {
    secequiv = new Secequiv(await ready);
    self.postMessage({ version: secequiv.version });
  }
  try {
    self.postMessage({ id: data.id, ...answer(data) });
  } catch (error) {
    if (error instanceof SecequivError) self.postMessage({ id: data.id, verdict: error.verdict, message: `${error.message}\n`, json: error.json, failed: true });
    else self.postMessage({ id: data.id, verdict: 'unknown', message: `${error}\n`, json: null, failed: true });
  }
};
