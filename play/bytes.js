// How programs are shown as text. Hexadecimal text stands for raw bytes: 8 for each instruction.

function checkedBytes(text) {
  const words = text.trim().split(/\s+/);
  const digits = words.join('');
  const hexadecimal = digits.length % 16 === 0 && words.every((word) => word.length % 2 === 0 && /^[0-9a-fA-F]+$/.test(word));
  return hexadecimal ? Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16)) : new TextEncoder().encode(text);
}

// Returns a file's bytes as the text of a pane.
function textOf(bytes) {
  if (!bytes.includes(0)) return new TextDecoder().decode(bytes);
  const hex = bytes.toHex ? bytes.toHex() : Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/.{1,64}/g, (line) => `${line.replace(/.{16}(?=.)/g, '$& ')}\n`); // browsers are slow with thousands of lines
}
