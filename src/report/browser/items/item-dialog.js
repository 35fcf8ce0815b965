/**
 * The dialog that shows one item with all its details.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 * @typedef {import('../../page-data.js').PageText} PageText
 */

import { browsing } from '../browsing.js';
import { buttonById, byId, dialogById, element, outcomeBadge, span } from '../dom.js';
import { detailsOf, page, styleOfItem } from '../page-data.js';
import { bytesText, clockText, dollarsText, durationText, secondsText } from '../words.js';
import { addressOf, itemAt } from './item-address.js';

let opened = page.items[0];

export function startItemDialog() {
  buttonById('item-previous').addEventListener('click', () => openItem(neighbour(-1)));
  buttonById('item-next').addEventListener('click', () => openItem(neighbour(1)));
  dialogById('item-dialog').addEventListener('close', () => showAddress(''));
  window.addEventListener('hashchange', openAddressed);
  openAddressed();
}

/** Opens the item that the page's address names, if it names one. */
function openAddressed() {
  const item = itemAt(location.hash, page.items);
  if (item) openItem(item);
}

/** A step back must leave the report, and not show the items again. @param {string} hash */
function showAddress(hash) {
  history.replaceState(null, '', `${location.href.split('#', 1)[0]}${hash}`);
}

/** @param {PageItem} item */
export function openItem(item) {
  opened = item;
  drawItem(item);
  const dialog = dialogById('item-dialog');
  if (!dialog.open) dialog.showModal();
  byId('item-title').focus();
  byId('item-body').scrollTop = 0;
  showAddress(addressOf(item));
}

/** The item before or after the open one, in the table if it is there. @param {number} step */
function neighbour(step) {
  const items = browsing.shown.includes(opened) ? browsing.shown : page.items;
  return items[items.indexOf(opened) + step];
}

/** @param {PageItem} item */
function drawItem(item) {
  const details = detailsOf(item);
  byId('item-title').replaceChildren(element('bdi', {}, item.id));
  buttonById('item-previous').disabled = !neighbour(-1);
  buttonById('item-next').disabled = !neighbour(1);
  const error = details.error
    ? element('div', { class: 'alert' }, element('strong', {}, details.error.code), textBlock(details.error.message))
    : null;
  byId('item-body').replaceChildren(
    element('p', {}, outcomeBadge(styleOfItem(item))),
    ...(error ? [error] : []),
    ...details.left.map((text) => element('div', { class: 'alert' }, `Left behind: ${text}`)),
    ...details.prompts.flatMap((prompt, at) => promptParts(prompt, details.prompts.length > 1 ? ` ${at + 1}` : '')),
    ...fileParts(details.files),
    ...earlierParts(details.earlier),
    element('h3', {}, 'Times', item.earlier ? span('note', '  in an earlier run of the batch') : null),
    timesTable(item),
    element('h3', {}, 'Facts'),
    factsList(item),
  );
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

/** @param {readonly import('../../page-data.js').PageAttempt[]} attempts */
function earlierParts(attempts) {
  if (attempts.length === 0) return [];
  const entries = attempts.map((attempt) => {
    const { generation, machineSeconds, sandboxId, prompt, error } = attempt;
    const cost = page.dollarsPerSecond === null ? '' : `, ${dollarsText(machineSeconds * page.dollarsPerSecond)}`;
    const facts = `  ${secondsText(machineSeconds)}${cost}${sandboxId === null ? '' : `, ${sandboxId}`}`;
    const summary = element(
      'summary',
      {},
      `Try ${generation} `,
      outcomeBadge(styleOfItem(attempt)),
      span('note', facts),
    );
    const texts = [prompt && textBlock(prompt, 'quiet'), error && element('div', { class: 'alert' }, textBlock(error))];
    return element('li', {}, element('details', {}, summary, ...texts.filter((text) => text !== null)));
  });
  return [
    element('h3', {}, `Earlier attempts (${attempts.length})`),
    element('ul', { class: 'file-list' }, ...entries),
  ];
}

/** Shows a text that somebody else wrote, never as markup. @param {PageText} text @param {string} [name] */
function textBlock({ text, cut }, name = '') {
  const block = element('pre', { class: `text ${name}`, dir: 'auto', tabindex: '0' }, text);
  if (cut > 0) block.append(cutNote(cut));
  return block;
}

/** @param {number} cut */
function cutNote(cut) {
  return span('cut', `\n… ${cut.toLocaleString('en')} more characters are not in this report`);
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
