/**
 * Parses the part of Markdown that agents write. The result contains only the tags in this file, and addresses only in
 * links. HTML in the text stays text, and an image becomes a link. The caller creates elements or escaped markup from
 * the result. The time is limited for any text.
 * @typedef {string | MarkdownElement} MarkdownNode
 * @typedef {{ readonly tag: string, readonly href?: string, readonly children: readonly MarkdownNode[] }} MarkdownElement
 */
import { parseInline } from './inline.js';

const deepest = 8;
const fenceStart = /^ {0,3}(`{3,}|~{3,}) ?[\w+.#-]{0,40}\s*$/;
const headingStart = /^ {0,3}(#{1,6})[ \t]+/;
const rule = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const quoteStart = /^ {0,3}> ?/;
const itemStart = /^( {0,3})([-*+]|(\d{1,9})[.)])(?: {1,4}(?=\S)|\s*$)/;

/** @param {string} text @returns {MarkdownNode[]} */
export function parseMarkdown(text) {
  return parseBlocks(text.replaceAll('\t', '    ').split('\n'), 0);
}

/** @param {readonly string[]} lines @param {number} depth @returns {MarkdownNode[]} */
function parseBlocks(lines, depth) {
  /** @type {MarkdownNode[]} */
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (lines[at].trim() === '') {
      at += 1;
      continue;
    }
    const [block, next] = parseBlock(lines, at, depth);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

/** @param {readonly string[]} lines @param {number} at @param {number} depth @returns {[MarkdownNode, number]} the block and the line after it */
function parseBlock(lines, at, depth) {
  const line = lines[at];
  const [, fence] = fenceStart.exec(line) ?? [];
  if (fence) return fencedCode(lines, at + 1, fence);
  if (line.startsWith('    ')) return indentedCode(lines, at);
  const heading = headingStart.exec(line);
  if (heading) {
    const tag = ['h4', 'h4', 'h5', 'h6', 'h6', 'h6'][heading[1].length - 1];
    return [{ tag, children: parseInline(line.slice(heading[0].length)) }, at + 1];
  }
  if (rule.test(line)) return [{ tag: 'hr', children: [] }, at + 1];
  if (depth < deepest && quoteStart.test(line)) return quote(lines, at, depth);
  if (depth < deepest && itemStart.test(line)) return list(lines, at, depth);
  if (isTable(lines, at)) return table(lines, at);
  let end = at + 1;
  while (end < lines.length && !interrupts(lines, end)) end += 1;
  const children = lines
    .slice(at, end)
    .flatMap((own, place) => [...(place > 0 ? [{ tag: 'br', children: [] }] : []), ...parseInline(own.trim())]);
  return [{ tag: 'p', children }, end];
}

/** True if a line ends the paragraph before it. @param {readonly string[]} lines @param {number} at */
function interrupts(lines, at) {
  const line = lines[at];
  return (
    line.trim() === '' ||
    fenceStart.test(line) ||
    headingStart.test(line) ||
    rule.test(line) ||
    quoteStart.test(line) ||
    itemStart.test(line) ||
    isTable(lines, at)
  );
}

/** @param {readonly string[]} lines @param {number} from @param {string} fence @returns {[MarkdownNode, number]} */
function fencedCode(lines, from, fence) {
  let end = from;
  while (end < lines.length && !(lines[end].trim().startsWith(fence) && isOnly(lines[end].trim(), fence[0]))) end += 1;
  return [code(lines.slice(from, end)), end + 1];
}

/** @param {string} text @param {string} character */
function isOnly(text, character) {
  return [...text].every((own) => own === character);
}

/** @param {readonly string[]} lines @param {number} at @returns {[MarkdownNode, number]} */
function indentedCode(lines, at) {
  let end = at;
  while (end < lines.length && (lines[end].startsWith('    ') || lines[end].trim() === '')) end += 1;
  while (lines[end - 1].trim() === '') end -= 1;
  return [code(lines.slice(at, end).map((line) => line.slice(4))), end];
}

/** @param {readonly string[]} lines @returns {MarkdownNode} */
function code(lines) {
  return { tag: 'pre', children: [{ tag: 'code', children: [lines.join('\n')] }] };
}

/** @param {readonly string[]} lines @param {number} at @param {number} depth @returns {[MarkdownNode, number]} */
function quote(lines, at, depth) {
  let end = at;
  while (end < lines.length && quoteStart.test(lines[end])) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(quoteStart, ''));
  return [{ tag: 'blockquote', children: parseBlocks(inner, depth + 1) }, end];
}

/** @param {readonly string[]} lines @param {number} at @param {number} depth @returns {[MarkdownNode, number]} */
function list(lines, at, depth) {
  const isOrdered = itemStart.exec(lines[at])?.[3] !== undefined;
  /** @type {MarkdownNode[]} */
  const items = [];
  let next = at;
  while (next < lines.length) {
    const start = itemStart.exec(lines[next]);
    if (!start || (start[3] !== undefined) !== isOrdered || rule.test(lines[next])) break;
    const own = [lines[next].slice(start[0].length)];
    next += 1;
    while (next < lines.length && belongsToItem(lines, next)) {
      own.push(withoutIndent(lines[next], start[0].length));
      next += 1;
    }
    const blocks = parseBlocks(own, depth + 1);
    const [only] = blocks;
    // A single paragraph needs no element of its own.
    const isShort =
      typeof only === 'object' && only.tag === 'p' && blocks.every((block) => block === only || isList(block));
    items.push({ tag: 'li', children: isShort ? [...only.children, ...blocks.slice(1)] : blocks });
    while (next + 1 < lines.length && lines[next].trim() === '' && itemStart.test(lines[next + 1])) next += 1;
  }
  return [{ tag: isOrdered ? 'ol' : 'ul', children: items }, next];
}

/** @param {MarkdownNode} node */
function isList(node) {
  return typeof node === 'object' && (node.tag === 'ul' || node.tag === 'ol');
}

/** True if a line continues the item above it. @param {readonly string[]} lines @param {number} at */
function belongsToItem(lines, at) {
  const line = lines[at];
  if (line.trim() === '') return at + 1 < lines.length && lines[at + 1].startsWith('  ');
  return line.startsWith('  ') || (lines[at - 1].trim() !== '' && !interrupts(lines, at));
}

/** @param {string} line @param {number} most */
function withoutIndent(line, most) {
  let indent = 0;
  while (indent < most && line[indent] === ' ') indent += 1;
  return line.slice(indent);
}

/** @param {readonly string[]} lines @param {number} at */
function isTable(lines, at) {
  const divider = lines[at + 1];
  if (divider === undefined || !lines[at].includes('|') || !divider.includes('|') || !/^[\s|:-]+$/.test(divider))
    return false;
  return (
    cellsOf(divider).every((cell) => /^:?-+:?$/.test(cell)) && cellsOf(divider).length === cellsOf(lines[at]).length
  );
}

/** @param {readonly string[]} lines @param {number} at @returns {[MarkdownNode, number]} */
function table(lines, at) {
  let end = at + 2;
  while (end < lines.length && lines[end].includes('|')) end += 1;
  /** @param {string} line @param {string} tag @returns {MarkdownNode} */
  const row = (line, tag) => ({
    tag: 'tr',
    children: cellsOf(line).map((cell) => ({ tag, children: parseInline(cell) })),
  });
  const body = lines.slice(at + 2, end).map((line) => row(line, 'td'));
  const children = [
    { tag: 'thead', children: [row(lines[at], 'th')] },
    { tag: 'tbody', children: body },
  ];
  return [{ tag: 'table', children }, end];
}

/** @param {string} line */
function cellsOf(line) {
  const cells = line
    .trim()
    .split('|')
    .map((cell) => cell.trim());
  if (cells[0] === '') cells.shift();
  if (cells[cells.length - 1] === '') cells.pop();
  return cells;
}
