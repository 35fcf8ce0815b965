/**
 * The dialog that shows items side by side and marks their differences.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 */
import { byId, dialogById, element, inputById, outcomeBadge, span } from '../dom.js';
import { detailsOf, styleOfItem } from '../page-data.js';
import { bytesText, durationText, secondsText } from '../words.js';
import { alignTexts, commonEnds } from './line-diff.js';

/** @type {readonly PageItem[]} */
let compared = [];

export function startCompareDialog() {
  inputById('compare-only').addEventListener('change', drawComparison);
}

/** @param {readonly PageItem[]} items two or more */
export function openComparison(items) {
  compared = [...items].sort((a, b) => a.index - b.index);
  drawComparison();
  dialogById('compare-dialog').showModal();
  byId('compare-title').focus();
  byId('compare-body').scrollTo(0, 0);
}

function drawComparison() {
  const items = compared;
  const all = items.map(detailsOf);
  const grid = element('div', {
    class: 'compare',
    role: 'table',
    'aria-label': 'Items side by side',
    'aria-colcount': items.length,
  });
  grid.style.setProperty('--columns', String(items.length));
  grid.append(
    gridRow(
      'heads',
      items.map((item) => headCell(item, items)),
    ),
  );
  const count = Math.max(...all.map(({ prompts }) => prompts.length));
  for (let at = 0; at < count; at += 1) {
    const number = count > 1 ? ` ${at + 1}` : '';
    grid.append(
      ...textRows(
        `Prompt${number}`,
        all.map(({ prompts }) => prompts[at]?.prompt.text ?? ''),
        true,
      ),
    );
    grid.append(
      ...textRows(
        `Answer${number}`,
        all.map(({ prompts }) => shownText(prompts[at])),
        false,
      ),
    );
  }
  const files = all.map((details) =>
    details.files
      .map(({ path, size, error }) => `${path}  ${error ?? (size === null ? '' : bytesText(size))}`)
      .join('\n'),
  );
  if (files.some(Boolean)) grid.append(...textRows('Files', files, false));
  byId('compare-body').replaceChildren(grid);
}

/** @param {import('../../page-data.js').PagePrompt | undefined} prompt */
function shownText(prompt) {
  if (!prompt) return '';
  const rest =
    prompt.answer && prompt.answer.cut > 0 ? `\n… ${prompt.answer.cut.toLocaleString('en')} more characters` : '';
  return `${prompt.answer?.text ?? ''}${rest}${prompt.error ? `\n${prompt.error.text}` : ''}`;
}

/** @param {PageItem} item @param {readonly PageItem[]} items */
function headCell(item, items) {
  const took = item.durationMs === null ? 'not forked' : durationText(item.durationMs);
  const labels = Object.entries(item.labels)
    .filter(([name, value]) => items.some((other) => other.labels[name] !== value))
    .map(([name, value]) => element('li', {}, element('bdi', {}, `${name}: ${value}`)));
  return element(
    'div',
    { class: 'cell head', role: 'columnheader' },
    element('strong', { dir: 'auto' }, item.id),
    outcomeBadge(styleOfItem(item)),
    span('note', `${took} · ${item.type} · ${secondsText(item.machineSeconds)} machine time`),
    element('ul', { class: 'chips' }, ...labels),
  );
}

/**
 * @param {string} title
 * @param {readonly string[]} texts
 * @param {boolean} foldSame whether texts that are all equal are shown once
 */
function textRows(title, texts, foldSame) {
  const heading = element('h3', {}, title);
  const bar = element('div', { class: 'compare-title', role: 'row' }, element('div', { role: 'rowheader' }, heading));
  if (texts.every((text) => text === texts[0])) {
    heading.append(span('note', '  identical in all'));
    if (foldSame) return [bar, element('pre', { class: 'text quiet', dir: 'auto' }, texts[0])];
  }
  const rows = alignTexts(texts);
  const differing = rows.filter(({ same }) => !same).length;
  if (differing > 0) heading.append(span('note', `  ${differing} of ${rows.length} lines differ`));
  const isShort = inputById('compare-only').checked;
  /** @type {HTMLElement[]} */
  const made = [bar];
  let hidden = 0;
  for (const row of rows) {
    if (isShort && row.same) {
      hidden += 1;
      continue;
    }
    if (hidden > 0) made.push(equalNote(hidden));
    hidden = 0;
    made.push(lineRow(row));
  }
  if (hidden > 0) made.push(equalNote(hidden));
  return made;
}

/** @param {number} lines */
function equalNote(lines) {
  return element('p', { class: 'equal note' }, `⋯ ${lines} equal ${lines === 1 ? 'line' : 'lines'}`);
}

/** @param {import('./line-diff.js').AlignedRow} row */
function lineRow({ same, lines }) {
  const present = lines.filter((line) => line !== null);
  const ends = same || present.length < 2 ? null : commonEnds(present);
  const cells = lines.map((line) => {
    if (line === null) return element('div', { class: 'cell missing', role: 'cell' }, span('hidden-text', 'no line'));
    const cell = element('div', { class: same ? 'cell' : 'cell differs', role: 'cell', dir: 'auto' });
    if (!same) cell.append(element('span', { class: 'differs-mark', title: 'differs' }, '≠'));
    if (!ends) cell.append(line);
    else {
      const middle = line.slice(ends.start, line.length - ends.end);
      cell.append(
        line.slice(0, ends.start),
        middle ? element('mark', {}, middle) : '',
        line.slice(line.length - ends.end),
      );
    }
    return cell;
  });
  return gridRow(same ? 'same' : 'differing', cells);
}

/** @param {string} name @param {readonly HTMLElement[]} cells */
function gridRow(name, cells) {
  return element('div', { class: `compare-row ${name}`, role: 'row' }, ...cells);
}
