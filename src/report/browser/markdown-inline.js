/**
 * Parses Markdown within a line: code, emphasis and links.
 * @typedef {import('./markdown.js').MarkdownNode} MarkdownNode
 */

const deepest = 6;
const link = /!?\[([^[\]]{0,500})\]\(\s{0,9}<?(https?:\/\/[^\s()<>]{1,2000})>?\s{0,9}\)/iy;
const bareAddress = /https?:\/\/[^\s<>"'`\]|\\]{1,2000}/iy;
/** The longest first: `**` is not two `*`. */
const marks = /** @type {const} */ ([
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'del'],
  ['*', 'em'],
  ['_', 'em'],
]);

/** @param {string} text one line @returns {MarkdownNode[]} */
export function parseInline(text, depth = 0) {
  /** @type {MarkdownNode[]} */
  const nodes = [];
  /** Marks without an end in the rest of the text. @type {Set<string>} */
  const unclosed = new Set();
  let plain = '';
  let at = 0;
  while (at < text.length) {
    const [node, next] = parseSpan(text, at, { depth, unclosed }) ?? [text[at], at + 1];
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
 * @param {{ readonly depth: number, readonly unclosed: Set<string> }} state
 * @returns {[MarkdownNode, number] | null} what begins here and where it ends; null for plain text
 */
function parseSpan(text, at, state) {
  switch (text[at]) {
    case '\\':
      return /^[!-/:-@[-`{-~]$/.test(text[at + 1] ?? '') ? [text[at + 1], at + 2] : null;
    case '`':
      return codeSpan(text, at, state.unclosed);
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

/** @param {string} text @param {number} at @param {Set<string>} unclosed @returns {[MarkdownNode, number]} */
function codeSpan(text, at, unclosed) {
  let length = 1;
  while (text[at + length] === '`') length += 1;
  const ticks = '`'.repeat(length);
  for (let end = at + length; !unclosed.has(ticks); end += 1) {
    end = text.indexOf(ticks, end);
    if (end < 0) break;
    let after = end + length;
    while (text[after] === '`') after += 1;
    if (after === end + length) {
      const inner = text.slice(at + length, end);
      const isPadded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
      return [{ tag: 'code', children: [isPadded ? inner.slice(1, -1) : inner] }, after];
    }
    end = after - 1;
  }
  unclosed.add(ticks);
  return [ticks, at + length];
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
  let [href] = bareAddress.exec(text) ?? [''];
  // A sentence ends after an address more often than an address ends with a dot.
  while (/[.,;:!?*_~)]/.test(href[href.length - 1] ?? '') && !(href.endsWith(')') && href.includes('(')))
    href = href.slice(0, -1);
  return /^https?:\/\/[^/]/i.test(href) ? [{ tag: 'a', href, children: [href] }, at + href.length] : null;
}

/**
 * @param {string} text
 * @param {number} at
 * @param {{ readonly depth: number, readonly unclosed: Set<string> }} state
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
