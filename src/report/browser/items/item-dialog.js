/**
 * The dialog that shows one item with all its details.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 * @typedef {import('../../page-data.js').PageText} PageText
 * @typedef {import('../../page-data.js').PageDetails} PageDetails
 */

import { browsing, moveCursor, onBrowsing, toggleChosen } from '../browsing.js';
import { startCopying } from '../copy.js';
import { buttonById, byId, dialogById, element, outcomeBadge, segmentBars, span } from '../dom.js';
import { detailsOf, page, styleOfItem } from '../page-data.js';
import { bytesText, clockText, dollarsText, durationText, secondsText } from '../words.js';

/** @type {PageItem | null} */
let opened = null;

export function startItemDialog() {
  buttonById('item-previous').addEventListener('click', () => stepItem(-1));
  buttonById('item-next').addEventListener('click', () => stepItem(1));
  dialogById('item-dialog').addEventListener('close', () => {
    opened = null;
  });
  onBrowsing(() => {
    if (opened) drawChoice(opened);
  });
}

/** Opens the item under the cursor. */
export function openItem() {
  const item = browsing.shown[browsing.cursor];
  if (!item) return;
  opened = item;
  drawItem(item);
  const dialog = dialogById('item-dialog');
  if (!dialog.open) dialog.showModal();
  byId('item-title').focus();
  byId('item-body').scrollTop = 0;
}

/** @param {number} step */
export function stepItem(step) {
  moveCursor(browsing.cursor + step);
  openItem();
}

/** @param {PageItem} item */
function drawItem(item) {
  const details = detailsOf(item);
  byId('item-title').replaceChildren(element('bdi', {}, item.id));
  buttonById('item-previous').disabled = browsing.cursor === 0;
  buttonById('item-next').disabled = browsing.cursor >= browsing.shown.length - 1;
  const error = details.error
    ? element('div', { class: 'alert' }, element('strong', {}, details.error.code), textBlock(details.error.message))
    : null;
  byId('item-body').replaceChildren(
    element(
      'p',
      { class: 'bar' },
      outcomeBadge(styleOfItem(item)),
      element('button', { type: 'button', id: 'item-choose', 'aria-keyshortcuts': 'x' }),
    ),
    ...(error ? [error] : []),
    ...details.left.map((text) => element('div', { class: 'alert' }, `Left behind: ${text}`)),
    ...details.prompts.flatMap((prompt, at) => promptParts(prompt, details.prompts.length > 1 ? ` ${at + 1}` : '')),
    ...fileParts(details.files),
    element('h3', {}, 'Times', item.earlier ? span('note', '  in an earlier run of the batch') : null),
    lifeBar(item),
    timesTable(item),
    element('h3', {}, 'Facts'),
    factsList(item),
    ...commandParts(details),
  );
  buttonById('item-choose').addEventListener('click', () => toggleChosen(item));
  drawChoice(item);
}

/** @param {PageItem} item */
function drawChoice(item) {
  const isChosen = browsing.chosen.has(item);
  buttonById('item-choose').textContent = isChosen ? 'Selected for comparison ✓' : 'Select for comparison';
  buttonById('item-choose').setAttribute('aria-pressed', String(isChosen));
}

/** @param {import('../../page-data.js').PagePrompt} prompt @param {string} number */
function promptParts(prompt, number) {
  const heading = element('h3', {}, `Answer${number}`, span('note', `  ${prompt.status.replaceAll('_', ' ')}`));
  const parts = [element('h3', {}, `Prompt${number}`), textBlock(prompt.prompt, 'quiet'), heading];
  if (prompt.answer) parts.push(textBlock(prompt.answer));
  if (prompt.answerRef)
    parts.push(element('p', { class: 'note' }, `The full answer is in the result store: ${prompt.answerRef}`));
  if (prompt.error) parts.push(element('div', { class: 'alert' }, textBlock(prompt.error)));
  if (!prompt.answer && !prompt.error) parts.push(element('p', { class: 'note' }, 'No answer.'));
  return parts;
}

/** @param {readonly import('../../page-data.js').PageFile[]} files */
function fileParts(files) {
  if (files.length === 0) return [];
  const entries = files.map(({ path, size, error, marks, preview }) => {
    const mark = marks === '' ? '' : ` (${marks})`;
    const name = [
      element('bdi', { class: 'path' }, path),
      span('note', error ?? `${size === null ? '' : ` ${bytesText(size)}`}${mark}`),
    ];
    if (!preview) return element('li', { class: error ? 'failed' : null }, ...name);
    return element('li', {}, element('details', {}, element('summary', {}, ...name), textBlock(preview)));
  });
  return [element('h3', {}, `Files (${files.length})`), element('ul', { class: 'file-list' }, ...entries)];
}

/** Shows a text that somebody else wrote, never as markup. @param {PageText} text @param {string} [name] */
export function textBlock({ text, cut }, name = '') {
  const block = element('pre', { class: `text ${name}`, dir: 'auto', tabindex: '0' }, text);
  if (cut > 0) block.append(cutNote(cut));
  return block;
}

/** @param {number} cut */
function cutNote(cut) {
  return span('cut', `\n… ${cut.toLocaleString('en')} more characters are not in this report`);
}

/** @param {PageItem} item */
function lifeBar({ segments }) {
  const bar = element('div', { class: 'track life', 'aria-hidden': 'true' });
  const [first, last] = [segments[0], segments[segments.length - 1]];
  if (first && last) bar.append(...segmentBars(segments, first.from, last.to));
  return bar;
}

/** @param {PageItem} item */
function timesTable({ segments }) {
  if (segments.length === 0) return element('p', { class: 'note' }, 'This item was not forked.');
  const rows = segments.map(({ kind, from, to }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, element('span', { class: `swatch fill-${kind}`, 'aria-hidden': 'true' }), kind),
      element('td', { class: 'number' }, durationText(to - from)),
      element('td', { class: 'number' }, clockText(page.startedAtMs + from)),
      element('td', { class: 'number wide' }, clockText(page.startedAtMs + to)),
    ),
  );
  const heads = ['Phase', 'Took', 'From (UTC)', 'To'].map((word, at) =>
    element('th', { scope: 'col', class: ['', 'number', 'number', 'number wide'][at] }, word),
  );
  return element(
    'table',
    { class: 'plain' },
    element('thead', {}, element('tr', {}, ...heads)),
    element('tbody', {}, ...rows),
  );
}

/** @param {PageItem} item */
function factsList(item) {
  const details = detailsOf(item);
  const cost = page.dollarsPerSecond === null ? '' : `, ${dollarsText(item.machineSeconds * page.dollarsPerSecond)}`;
  /** @type {[string, string][]} */
  const facts = [
    ['Place', `${item.index + 1} of ${page.items.length}`],
    ...Object.entries(item.labels),
    ['Sandbox', details.sandboxId ?? 'none'],
    ['Name', details.sandboxName ?? 'none'],
    ['Fork', details.end],
    ['Generation', String(item.generation)],
    ['Machine', `${item.type}, ${secondsText(item.machineSeconds)}${cost}`],
    ['API calls', String(details.apiCalls)],
  ];
  const entries = facts.map(([name, value]) =>
    element('div', {}, element('dt', {}, element('bdi', {}, name)), element('dd', {}, element('bdi', {}, value))),
  );
  if (details.workflowUrl !== null) entries.push(workflowEntry(details.workflowUrl));
  return element('dl', { class: 'rows' }, ...entries);
}

/** @param {string} href */
function workflowEntry(href) {
  const link = element('a', { href, target: '_blank', rel: 'noopener noreferrer' }, 'open in Temporal');
  return element('div', {}, element('dt', {}, 'Workflow'), element('dd', {}, link));
}

/** Commands about the item's fork. Its id comes from a result, and must be safe in a shell. @param {PageDetails} details */
function commandParts({ sandboxId, left }) {
  if (!sandboxId || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(sandboxId)) return [];
  const commands = [`sandflow sandboxes show ${sandboxId}`];
  if (left.length > 0) commands.push(`sandflow stop ${sandboxId} --wait`);
  const list = element('div', { class: 'commands' });
  for (const command of commands) {
    const copy = element('button', { type: 'button', class: 'copy' }, 'Copy');
    list.append(element('p', {}, element('code', {}, command), copy));
  }
  startCopying(list);
  return [element('h3', {}, 'Next'), list];
}
