'use strict';
// The page: its state, the state in the address, and the Worker. Owns no answer: the module makes every text (worker.js).

const element = (id) => document.getElementById(id);
const TABS = [['prove', 'Verdict'], ['report', 'Step by step'], ['diff', 'Differences'], ['actions', 'Actions'], ['lift', 'Lifted'], ['json', 'Lifted JSON'],
  ['dis', 'Disassembly'], ['optimize', 'Optimized'], ['cost', 'Cost']];
const PAIR = ['prove', 'report', 'diff']; // tabs that need two filters
const OPTIONS = { same: 'raw', refines: false, assume: '', arch: 'x86_64', timeout: '10', memory: '256' }; // and their defaults
const GOOD = ['equivalent', 'pass'];
const OPEN = ['unknown'];

// The address's fragment: before=F.DATA&after=F.DATA&tab=NAME&OPTION=VALUE. F is z (text, compressed with deflate), t (text) or r (the bytes of a
// raw program). DATA is base64url.
const base64url = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
function fromBase64url(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text, { alphabet: 'base64url' }); // fast; browsers since 2025 have it
  return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
}
const piped = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

async function packed(text) {
  return `z.${base64url(await piped(new TextEncoder().encode(text), new CompressionStream('deflate-raw')))}`;
}

async function unpacked(value) {
  const bytes = fromBase64url(value.slice(2));
  if (value[0] === 'r') return textOf(bytes);
  return new TextDecoder().decode(value[0] === 'z' ? await piped(bytes, new DecompressionStream('deflate-raw')) : bytes);
}

const read = (name) => (element(name).type === 'checkbox' ? element(name).checked : element(name).value);
function write(name, value) {
  if (element(name).type === 'checkbox') element(name).checked = value === true || value === 'true';
  else element(name).value = value;
}

let tab = 'prove';
let fragment = ''; // that this page wrote

async function address() {
  const out = new URLSearchParams();
  for (const side of ['before', 'after']) if (read(side) !== '') out.set(side, await packed(read(side)));
  for (const [name, usual] of Object.entries(OPTIONS)) if (read(name) !== usual) out.set(name, read(name));
  if (tab !== 'prove') out.set('tab', tab);
  return `#${out}`;
}

async function restore() {
  if (location.hash === fragment) return;
  const given = new URLSearchParams(location.hash.slice(1));
  try {
    for (const side of ['before', 'after']) write(side, given.has(side) ? await unpacked(given.get(side)) : '');
  } catch {
    show({ verdict: 'error', message: 'This link is damaged: its filters cannot be read.\n', failed: true });
    return;
  }
  for (const [name, usual] of Object.entries(OPTIONS)) write(name, given.get(name) ?? usual);
  if (TABS.some(([name]) => name === given.get('tab'))) tab = given.get('tab');
  changed();
}

async function store() {
  const next = await address();
  if (next === location.hash || (next === '#' && location.hash === '')) return;
  fragment = next;
  history.replaceState(null, '', next);
}

// The Worker. A new one replaces a Worker that is busy with an old question.
let worker = null;
let busy = false;
let asked = 0;
let loaded = null;

async function moduleBytes() {
  const bytes = fromBase64url(element('module').textContent.trim());
  return (await piped(bytes, new DecompressionStream('gzip'))).buffer;
}

async function idleWorker() {
  loaded ??= moduleBytes();
  const bytes = await loaded;
  if (worker !== null && !busy) return worker;
  worker?.terminate();
  const url = URL.createObjectURL(new Blob([element('worker').textContent], { type: 'text/javascript' }));
  worker = new Worker(url);
  worker.onmessage = ({ data }) => {
    if (data.version) element('version').textContent = data.version;
    else if (data.id === asked) {
      busy = false;
      show(data);
    }
  };
  busy = false;
  worker.postMessage({ module: bytes });
  return worker;
}

const one = () => read('after').trim() === '';
const current = () => (one() && PAIR.includes(tab) ? 'actions' : tab);

// Asks for the verdict of a pair, then for the current tab.
let verdictOf = '';
async function ask(question) {
  const id = ++asked;
  const to = await idleWorker();
  if (id !== asked) return;
  busy = true;
  element('cancel').hidden = false;
  element('panel').setAttribute('aria-busy', 'true');
  const options = { same: read('same'), refines: read('refines'), assume: read('assume'), arch: read('arch'), timeout: Number(read('timeout')), maxMemory: Number(read('memory')) };
  to.postMessage({ id, question, before: read('before'), after: read('after'), options });
  ask.question = question;
}

function idle() {
  element('cancel').hidden = true;
  element('panel').removeAttribute('aria-busy');
}

function showVerdict(text, kind, milliseconds) {
  const place = element('verdict');
  place.textContent = text;
  place.className = kind;
  element('time').textContent = milliseconds === undefined ? '' : `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}

function showText(text) {
  element('report').hidden = true;
  element('text').hidden = false;
  element('text').textContent = text;
}

// Shows an answer of the Worker, or a failure.
function show(answer) {
  idle();
  if (answer.forms) {
    element('before-form').textContent = answer.forms[0] ?? '';
    element('after-form').textContent = answer.forms[1] ?? '';
  }
  if (answer.failed) {
    showVerdict(answer.verdict, OPEN.includes(answer.verdict) ? 'open' : 'bad');
    showText(answer.message);
  } else if (ask.question === 'prove') {
    verdictOf = key();
    showVerdict(answer.verdict, GOOD.includes(answer.verdict) ? 'good' : OPEN.includes(answer.verdict) ? 'open' : 'bad', answer.milliseconds);
    showText(answer.message);
    if (current() !== 'prove') ask(current());
  } else if (answer.html && answer.html.message.startsWith('<!DOCTYPE')) {
    element('text').hidden = true;
    element('report').hidden = false;
    element('report').srcdoc = answer.html.message;
  } else {
    showText(answer.html ? answer.html.message : answer.text);
    if (one()) showVerdict('One filter', '', answer.milliseconds);
  }
  document.body.dataset.answered = String(asked); // for tests
  document.body.dataset.json = answer.json ? JSON.stringify(answer.json) : document.body.dataset.json ?? '';
}

const key = () => JSON.stringify(['before', 'after', ...Object.keys(OPTIONS)].map(read));

function changed() {
  for (const button of element('tabs').children) {
    const selected = button.dataset.tab === current();
    button.setAttribute('aria-selected', String(selected));
    button.tabIndex = selected ? 0 : -1;
    button.disabled = one() && PAIR.includes(button.dataset.tab);
    if (selected) element('panel').setAttribute('aria-labelledby', button.id);
  }
  store();
  if (read('before').trim() === '') {
    asked += 1;
    idle();
    showVerdict('Enter a filter', '');
    showText('');
  } else if (one() || verdictOf === key()) {
    ask(current());
  } else {
    ask('prove');
  }
}

let timer = 0;
function soon() {
  clearTimeout(timer);
  timer = setTimeout(changed, 250);
}

function cancel() {
  if (!busy) return;
  worker.terminate();
  worker = null;
  busy = false;
  asked += 1;
  show({ verdict: 'unknown', message: 'Cancelled.\n', failed: true });
}

for (const [name, title] of TABS) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', id: `tab-${name}`, textContent: title });
  button.setAttribute('role', 'tab');
  button.setAttribute('aria-controls', 'panel');
  button.dataset.tab = name;
  button.onclick = () => { tab = name; changed(); };
  element('tabs').append(button);
}
element('tabs').onkeydown = (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const usable = [...element('tabs').children].filter((button) => !button.disabled);
  const next = usable[(usable.indexOf(document.activeElement) + step + usable.length) % usable.length];
  next.focus();
  next.click();
};

const examples = JSON.parse(element('examples').textContent);
element('example').append(...examples.map(({ title }, i) => new Option(title, i)));
element('example').onchange = () => {
  const chosen = examples[read('example')];
  if (!chosen) return;
  write('before', chosen.before);
  write('after', chosen.after);
  changed();
};
for (const side of ['before', 'after']) {
  const pane = element(side);
  pane.oninput = soon;
  pane.ondragover = (event) => { event.preventDefault(); pane.classList.add('over'); };
  pane.ondragleave = () => pane.classList.remove('over');
  pane.ondrop = async (event) => {
    event.preventDefault();
    pane.classList.remove('over');
    const [file] = event.dataTransfer.files;
    if (file) pane.value = textOf(new Uint8Array(await file.arrayBuffer()));
    else pane.value = event.dataTransfer.getData('text');
    changed();
  };
}
for (const name of Object.keys(OPTIONS)) element(name).oninput = soon;
element('question').onsubmit = (event) => { event.preventDefault(); changed(); };
element('cancel').onclick = cancel;
document.onkeydown = (event) => { if (event.key === 'Escape') cancel(); };
element('link').onclick = async () => {
  await store();
  await navigator.clipboard.writeText(location.href).catch(() => {});
  element('link').textContent = 'Copied';
  setTimeout(() => { element('link').textContent = 'Copy link'; }, 1500);
};
window.onhashchange = restore;
idleWorker(); // compiles the module while the filters appear
if (location.hash.length > 1) restore(); else changed();
