/**
 * The timeline of the items. It shows them as rows, with elements only for visible rows, or all at once in one picture.
 * @typedef {import('../../page-data.js').PageItem} PageItem
 */
import { browsing, moveCursor, onBrowsing } from '../browsing.js';
import { buttonById, byId, element, segmentBars, span } from '../dom.js';
import { openItem } from '../items/item-dialog.js';
import { scrollToRow, visibleRows } from '../items/visible-rows.js';
import { page, styleOfItem } from '../page-data.js';
import { onTheme } from '../theme.js';
import { durationText } from '../words.js';
import { packForks } from './fork-lanes.js';
import { drawPicture } from './picture.js';
import { axisTicks } from './scale.js';

const rowHeight = 22;
const axisHeight = 24;
const mostZoom = 256;
const mostLaneHeight = 20;
const pictureHeight = 400;
/** Batches of up to this many items are shown as rows at first. */
const fewItems = 60;

let isFit = page.items.length > fewItems;
let zoom = 1;
let lastTop = 0;
/** @type {{ of: readonly PageItem[], lanes: import('./fork-lanes.js').Block[][] }} */
let packed = { of: [], lanes: [] };

const inner = element('div', { class: 'lanes-inner' });
const axis = element('div', { class: 'lanes-axis', 'aria-hidden': 'true' });
const rows = element('div', { class: 'lanes-rows' });
const canvas = /** @type {HTMLCanvasElement} */ (element('canvas', { class: 'lanes-picture', 'aria-hidden': 'true' }));

export function startLanes() {
  const view = byId('lanes-view');
  inner.append(axis, rows, canvas);
  view.replaceChildren(inner);
  buttonById('lanes-fit').addEventListener('click', () => setFit(true));
  buttonById('lanes-rows').addEventListener('click', () => setFit(false));
  buttonById('zoom-in').addEventListener('click', () => zoomBy(2));
  buttonById('zoom-out').addEventListener('click', () => zoomBy(0.5));
  view.addEventListener('scroll', () => requestAnimationFrame(onScroll), { passive: true });
  view.addEventListener('pointermove', (event) => read(placeAt(event)));
  view.addEventListener('pointerleave', () => read(-1));
  view.addEventListener('focus', () => read(browsing.cursor));
  view.addEventListener('click', (event) => {
    const place = placeAt(event);
    if (place < 0) return;
    moveCursor(place);
    openItem();
  });
  addEventListener('resize', drawLanes);
  onBrowsing(drawLanes);
  onTheme(drawLanes);
  drawLanes();
  read(-1);
}

export function toggleFit() {
  setFit(!isFit);
}

/**
 * Zooms around the middle of the view. If rows are shown, the fork in the middle row stays visible.
 * @param {number} factor
 */
export function zoomBy(factor) {
  const view = byId('lanes-view');
  const middle = (view.scrollLeft + view.clientWidth / 2) / inner.offsetWidth;
  zoom = Math.max(1, Math.min(mostZoom, zoom * factor));
  drawLanes();
  view.scrollLeft = middle * inner.offsetWidth - view.clientWidth / 2;
  if (!isFit) followTo(Math.floor((view.scrollTop + view.clientHeight / 2) / rowHeight));
  drawLanes();
}

/**
 * After a scroll in a zoomed view, the visible rows may be empty. The view then moves sideways to the fork of its
 * middle row.
 */
function onScroll() {
  const view = byId('lanes-view');
  if (!isFit && zoom > 1 && view.scrollTop !== lastTop)
    followTo(Math.floor((view.scrollTop + view.clientHeight / 2) / rowHeight));
  lastTop = view.scrollTop;
  drawLanes();
}

/** Scrolls sideways so that the fork of an item is visible. @param {number} place */
function followTo(place) {
  const view = byId('lanes-view');
  const item = browsing.shown[Math.min(place, browsing.shown.length - 1)];
  const fork = item?.segments.find(({ kind }) => kind !== 'queued');
  if (!item || !fork || item.earlier) return;
  const room = view.clientWidth - gutter();
  const [left, right] = [fork.from, item.segments[item.segments.length - 1].to].map(
    (ms) => (ms / page.spanMs) * spanPx(),
  );
  if (right < view.scrollLeft || left > view.scrollLeft + room) view.scrollLeft = (left + right) / 2 - room / 2;
}

/** Moves the cursor in the timeline. @param {number} step */
export function stepLane(step) {
  moveCursor(browsing.cursor + step);
  if (!isFit) scrollToRow(byId('lanes-view'), browsing.cursor, rowHeight, axisHeight);
  followTo(browsing.cursor);
  drawLanes();
  read(browsing.cursor);
}

/** @param {boolean} fit */
function setFit(fit) {
  isFit = fit;
  byId('lanes-view').scrollTop = 0;
  drawLanes();
  if (!fit) scrollToRow(byId('lanes-view'), browsing.cursor, rowHeight, axisHeight);
  read(-1);
}

function gutter() {
  if (isFit) return 10;
  const { clientWidth } = byId('lanes-view');
  if (clientWidth < 560) return 84;
  // Ids of a matrix are long, and differ at their ends.
  return clientWidth < 1_000 ? 150 : 240;
}

/** Width of the whole batch, in px. */
function spanPx() {
  return (byId('lanes-view').clientWidth - gutter() - 14) * zoom;
}

function drawLanes() {
  const view = byId('lanes-view');
  buttonById('lanes-fit').setAttribute('aria-pressed', String(isFit));
  buttonById('lanes-rows').setAttribute('aria-pressed', String(!isFit));
  buttonById('zoom-out').disabled = zoom <= 1;
  buttonById('zoom-in').disabled = zoom >= mostZoom;
  view.classList.toggle('fit', isFit);
  inner.style.setProperty('--gutter', `${gutter()}px`);
  inner.style.width = `${gutter() + spanPx() + 14}px`;
  const fromMs = ((view.scrollLeft - gutter()) / spanPx()) * page.spanMs;
  const ticks = axisTicks(spanPx(), fromMs, fromMs + (view.clientWidth / spanPx()) * page.spanMs);
  axis.replaceChildren(element('div', {}, ...ticks));
  if (isFit) drawFit(view);
  else drawRowsInSight(view);
}

/** @param {HTMLElement} view */
function drawFit(view) {
  if (packed.of !== browsing.shown) packed = { of: browsing.shown, lanes: packForks(browsing.shown) };
  const heightPx = Math.min(pictureHeight, packed.lanes.length * mostLaneHeight);
  inner.style.height = `${axisHeight + heightPx}px`;
  rows.replaceChildren();
  drawPicture(canvas, packed.lanes, {
    widthPx: view.clientWidth,
    heightPx,
    fromPx: gutter() - view.scrollLeft,
    spanPx: spanPx(),
    cursor: browsing.cursor,
  });
}

/** @param {HTMLElement} view */
function drawRowsInSight(view) {
  inner.style.height = `${axisHeight + browsing.shown.length * rowHeight}px`;
  const { first, end } = visibleRows(view, rowHeight, browsing.shown.length);
  rows.replaceChildren(...browsing.shown.slice(first, end).map((item, step) => lane(item, first + step)));
}

/** @param {PageItem} item @param {number} place */
function lane(item, place) {
  const { mark, tone } = styleOfItem(item);
  const track = element('span', { class: 'lane-track' }, ...segmentBars(item.segments, 0, page.spanMs));
  const end = element('span', { class: `lane-end tone-${tone}` }, mark);
  end.style.left = `${Math.max(0, (100 * (item.segments[item.segments.length - 1]?.to ?? 0)) / page.spanMs)}%`;
  track.append(end);
  const made = element(
    'div',
    { class: `lane${place === browsing.cursor ? ' cursor' : ''}` },
    element('span', { class: 'lane-name', dir: 'auto' }, item.id),
    track,
  );
  made.style.top = `${axisHeight + place * rowHeight}px`;
  return made;
}

/** @param {MouseEvent} event @returns {number} place of the item under the pointer, or -1 */
function placeAt(event) {
  const view = byId('lanes-view');
  const box = view.getBoundingClientRect();
  const y = event.clientY - box.top - view.clientTop - axisHeight;
  if (y < 0) return -1;
  if (!isFit) {
    const place = Math.floor((y + view.scrollTop) / rowHeight);
    return place < browsing.shown.length ? place : -1;
  }
  const lane = packed.lanes[Math.floor((y / canvas.clientHeight) * packed.lanes.length)] ?? [];
  const ms = ((event.clientX - box.left - view.clientLeft + view.scrollLeft - gutter()) / spanPx()) * page.spanMs;
  return lane.find(({ from, to }) => from <= ms && ms <= to)?.place ?? -1;
}

/** Describes how long an item was in each phase. @param {number} place */
function read(place) {
  const item = browsing.shown[place];
  const reading = byId('lanes-reading');
  if (!item) {
    const flags = isFit ? ' A dark flag marks a fork that did not complete.' : '';
    reading.replaceChildren(`Point at an item, or use the arrow keys, to see its times.${flags}`);
    return;
  }
  const parts = item.segments.map(({ kind, from, to }) => span('piece', `${kind} ${durationText(to - from)}`));
  const { mark, word, tone } = styleOfItem(item);
  const begins = beginning(item);
  reading.replaceChildren(
    element('bdi', { class: 'strong' }, item.id),
    ' ',
    span(`tone-${tone}`, `${mark} ${word}`),
    begins,
    ...parts,
  );
}

/** When an item began. @param {PageItem} item */
function beginning({ earlier, segments }) {
  if (earlier) return ' in an earlier run: ';
  return segments[0] ? ` from ${durationText(Math.max(0, segments[0].from))}: ` : ' never forked';
}
