/**
 * Parses Markdown within a line: code, emphasis and links.
 * @typedef {import('./markdown.js').MarkdownNode} MarkdownNode
 */

const deepest = 6;
const link = /!?\[([^[\]]{0,500})\]\(\s{0,9}<?(https?:\/\/[^\s()<>]{1,2000})>?\s{0,9}\)/iy;
/** Its host is not empty: otherwise each of many schemes in a row would be read up to the longest address. */
const bareAddress = /https?:\/\/[^\s<>"'`\]|\\/][^\s<>"'`\]|\\]{0,1999}/iy;
/** The longest comes first, so that `**` is not read as two `*`. */
const marks = /** @type {const} */ ([
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'del'],
  ['*', 'em'],
  ['_', 'em'],
]);

/**
 * @typedef {object} LineState
 * @property {number} depth
 * @property {Set<string>} unclosed marks without an end in the rest of the text
 * @property {(length: number, from: number) => number} nextTicks
 */

/** @param {string} text one line @returns {MarkdownNode[]} */
export function parseInline(text, depth = 0) {
  /** @type {MarkdownNode[]} */
  const nodes = [];
  /** @type {LineState} */
  const state = { depth, unclosed: new Set(), nextTicks: findTicks(text) };
  let plain = '';
  let at = 0;
  while (at < text.length) {
    const [node, next] = parseSpan(text, at, state) ?? [text[at], at + 1];
    if (typeof node === 'string') plain += node;
    else {
      if (plain !== '') nodes.push(plain);
      plain = '';
      nodes.push(node);
    }
    at = next;
  }
  if (plain !== '') nodes.push(plain);
  return nodes;
}

/**
 * @param {string} text
 * @param {number} at
 * @param {LineState} state
 * @returns {[MarkdownNode, number] | null} what begins here and where it ends; null for plain text
 */
function parseSpan(text, at, state) {
  switch (text[at]) {
    case '\\':
      return /^[!-/:-@[-`{-~]$/.test(text[at + 1] ?? '') ? [text[at + 1], at + 2] : null;
    case '`':
      return codeSpan(text, at, state.nextTicks);
    case '!':
    case '[':
      return linkSpan(text, at, state.depth);
    case 'h':
    case 'H':
      return addressSpan(text, at);
    case '*':
    case '_':
    case '~':
      return markedSpan(text, at, state);
    default:
      return null;
  }
}

/**
 * Finds sequences of backticks by their length. All sequences are read at once. A line may have sequences of many
 * lengths, and a separate search for each length would read the line many times.
 * @param {string} text
 * @returns {(length: number, from: number) => number} where the first run of exactly that length begins, at `from` or
 *   later; -1 without one. `from` never becomes smaller.
 */
function findTicks(text) {
  /** The last run first. @type {Map<number, number[]> | undefined} */
  let runs;
  return (length, from) => {
    runs ??= runsOfTicks(text);
    const starts = runs.get(length) ?? [];
    while (starts.length > 0 && starts[starts.length - 1] < from) starts.pop();
    return starts[starts.length - 1] ?? -1;
  };
}

/** @param {string} text @returns {Map<number, number[]>} */
function runsOfTicks(text) {
  /** @type {Map<number, number[]>} */
  const runs = new Map();
  for (const { 0: run, index } of [...text.matchAll(/`+/g)].reverse()) {
    const starts = runs.get(run.length) ?? [];
    starts.push(index);
    runs.set(run.length, starts);
  }
  return runs;
}

/** @param {string} text @param {number} at @param {LineState['nextTicks']} nextTicks @returns {[MarkdownNode, number]} */
function codeSpan(text, at, nextTicks) {
  let from = at + 1;
  while (text[from] === '`') from += 1;
  const length = from - at;
  const end = nextTicks(length, from);
  if (end < 0) return [text.slice(at, from), from];
  const inner = text.slice(from, end);
  const isPadded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
  return [{ tag: 'code', children: [isPadded ? inner.slice(1, -1) : inner] }, end + length];
}

/** @param {string} text @param {number} at @param {number} depth @returns {[MarkdownNode, number] | null} */
function linkSpan(text, at, depth) {
  link.lastIndex = at;
  const found = link.exec(text);
  if (!found) return null;
  const [whole, label, href] = found;
  const children = depth < deepest && label !== '' ? parseInline(label, deepest) : [label || href];
  return [{ tag: 'a', href, children: onlyText(children) }, at + whole.length];
}

/** A link within a link would end the outer one. @param {readonly MarkdownNode[]} nodes @returns {MarkdownNode[]} */
function onlyText(nodes) {
  return nodes.flatMap((node) => (typeof node === 'object' && node.tag === 'a' ? onlyText(node.children) : [node]));
}

/** @param {string} text @param {number} at @returns {[MarkdownNode, number] | null} */
function addressSpan(text, at) {
  if (/\w/.test(text[at - 1] ?? '')) return null;
  bareAddress.lastIndex = at;
  const [found] = bareAddress.exec(text) ?? [''];
  // A sentence ends after an address more often than an address ends with a dot.
  const after = found.includes('(') ? /[.,;:!?*_~]/ : /[.,;:!?*_~)]/;
  let end = found.length;
  while (end > 0 && after.test(found[end - 1])) end -= 1;
  const href = found.slice(0, end);
  return /^https?:\/\/[^/]/i.test(href) ? [{ tag: 'a', href, children: [href] }, at + href.length] : null;
}

/**
 * @param {string} text
 * @param {number} at
 * @param {LineState} state
 * @returns {[MarkdownNode, number] | null}
 */
function markedSpan(text, at, { depth, unclosed }) {
  if (depth >= deepest) return null;
  for (const [mark, tag] of marks) {
    if (!text.startsWith(mark, at)) continue;
    const from = at + mark.length;
    if (unclosed.has(mark) || !/\S/.test(text[from] ?? '') || (mark[0] === '_' && /\w/.test(text[at - 1] ?? '')))
      continue;
    const end = closingMark(text, from + 1, mark);
    if (end >= 0) return [{ tag, children: parseInline(text.slice(from, end), depth + 1) }, end + mark.length];
    unclosed.add(mark);
  }
  return null;
}

/** @param {string} text @param {number} from @param {string} mark */
function closingMark(text, from, mark) {
  for (let end = text.indexOf(mark, from); end >= 0; end = text.indexOf(mark, end + 1)) {
    const after = text[end + mark.length] ?? '';
    if (!/\S/.test(text[end - 1])) continue;
    if (mark[0] === '_' && /\w/.test(after)) continue;
    // `**` within `*…*` belongs to the inner emphasis.
    if (mark.length === 1 && (after === mark || text[end - 1] === mark)) continue;
    return end;
  }
  return -1;
}
