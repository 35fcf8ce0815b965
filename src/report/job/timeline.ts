/** The section with the phases, the prompts and the wakes of a job over time. */
import type { Wake } from '../../protocol/job/job-result.js';
import { clockText } from '../browser/words.js';
import { percent } from '../charts.js';
import { countOf, countText, durationText } from '../format.js';
import { html, type Markup } from '../markup.js';
import type { SegmentKind } from '../page-data.js';
import { plainText } from '../plain-text.js';
import { niceStep } from '../stats.js';
import type { JobReportData } from './job-data.js';
import type { JobSpan } from './job-times.js';

const promptsShown = 30;
const wakesShown = 12;

/** In px. Lanes of work are high, and lanes of waiting are low. */
const laneHeights: Readonly<Record<SegmentKind, { readonly y: number; readonly height: number }>> = {
  queued: { y: 12, height: 2 },
  booting: { y: 6, height: 14 },
  preparing: { y: 6, height: 14 },
  prompting: { y: 1, height: 24 },
  ending: { y: 6, height: 14 },
};

const phaseWords: Readonly<Record<SegmentKind, string>> = {
  queued: 'requesting',
  booting: 'booting',
  preparing: 'preparing',
  prompting: 'prompting',
  ending: 'collecting and ending',
};

export function timelineOfJob({ prompts, wakes, wakeCount }: JobReportData, span: JobSpan): Markup {
  const { startMs, endMs, segments } = span;
  const spanMs = endMs - startMs;
  const place = (ms: number): string => percent(ms / spanMs);
  const width = (from: number, to: number): string => percent(Math.max(0.002, (to - from) / spanMs));
  const phases = segments.map(
    ({ kind, from, to }) =>
      html`<rect class="fill-${kind}" x="${place(from)}" width="${width(from, to)}" y="${laneHeights[kind].y}" height="${laneHeights[kind].height}"><title>${phaseWords[kind]}: ${durationText(to - from)}</title></rect>`,
  );
  const promptLanes = prompts.slice(0, promptsShown).map(({ queuedAt, startedAt, endedAt, status }, at) => {
    const [queued, begun, ended] = [queuedAt, startedAt, endedAt].map((time) => Date.parse(time ?? '') - startMs);
    const from = [begun, queued].find((ms) => ms !== undefined && !Number.isNaN(ms));
    if (from === undefined) return null;
    const to = ended === undefined || Number.isNaN(ended) ? spanMs : ended;
    return lane(
      prompts.length > 1 ? `prompt ${at + 1}` : 'prompt',
      html`<rect class="fill-prompting" x="${place(from)}" width="${width(from, to)}" y="5" height="16"><title>${plainText(status)}: ${durationText(Math.max(0, to - from))}</title></rect>`,
    );
  });
  const ticks = wakes.map((wake) => {
    const at = Date.parse(wake.at) - startMs;
    return html`<circle class="wake ${wake.by === 'webhook' ? 'by-webhook' : 'by-timer'}" cx="${place(at)}" cy="13" r="4"><title>${clockText(startMs + at)} ${wakeCause(wake)}, waiting for ${plainText(wake.waitedFor)}</title></circle>`;
  });
  const rows = segments.map(
    ({ kind, from, to }) =>
      html`<tr><th scope="row"><span class="swatch fill-${kind}" aria-hidden="true"></span>${phaseWords[kind]}</th><td class="number">${durationText(to - from)}</td><td class="number">${clockText(startMs + from)}</td><td class="number wide">${clockText(startMs + to)}</td></tr>`,
  );
  return html`<section class="card" id="timeline" aria-labelledby="timeline-title"><h2 id="timeline-title">Timeline</h2>
<div class="job-lanes">${lane('phases', html`${phases}`)}${promptLanes}${wakes.length > 0 ? lane('wakes', html`${ticks}`) : null}${axis(spanMs)}</div>
<table class="plain"><thead><tr><th scope="col">Phase</th><th scope="col" class="number">Took</th><th scope="col" class="number">From (UTC)</th><th scope="col" class="number wide">To</th></tr></thead>
<tbody>${rows}<tr class="total"><th scope="row">start to end</th><td class="number">${durationText(spanMs)}</td><td></td><td class="wide"></td></tr></tbody></table>
${wakesPart(wakes, wakeCount)}</section>`;
}

function lane(name: string, shapes: Markup): Markup {
  return html`<span class="job-lane-name">${name}</span><svg class="job-lane" width="100%" height="26" aria-hidden="true">${shapes}</svg>`;
}

function axis(spanMs: number): Markup {
  const step = niceStep(spanMs, 6);
  const ticks = Array.from({ length: Math.floor(spanMs / step) + 1 }, (_, at) => at * step).filter(
    (ms) => ms / spanMs < 0.92,
  );
  return html`<span></span><svg class="job-lane chart" width="100%" height="22" aria-hidden="true"><line class="axis" x1="0" x2="100%" y1="1" y2="1"/>${ticks.map((ms) => html`<line class="axis" x1="${percent(ms / spanMs)}" x2="${percent(ms / spanMs)}" y1="1" y2="7"/><text x="${percent(ms / spanMs)}" y="19" dx="3">${ms === 0 ? '0' : durationText(ms)}</text>`)}</svg>`;
}

function wakesPart(wakes: readonly Wake[], wakeCount: number): Markup | null {
  if (wakes.length === 0) return null;
  const by = (cause: Wake['by']): number => wakes.filter((wake) => wake.by === cause).length;
  const causes = [
    [by('webhook'), 'by a webhook'],
    [by('safety_poll'), 'by a safety poll'],
    [by('deadline'), 'by the deadline'],
  ] as const;
  const older = wakeCount > wakes.length ? ` Of ${countText(wakeCount)} wakes, the newest are shown.` : '';
  const text = causes
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${countText(count)} ${word}`)
    .join(', ');
  const head = html`<thead><tr><th scope="col">Woke (UTC)</th><th scope="col">Woken by</th><th scope="col">Waited for</th><th scope="col" class="number wide">Waited</th><th scope="col" class="number wide">Age of the event</th></tr></thead>`;
  const rows = [...wakes].reverse().map(wakeRow);
  const rest = rows.length - wakesShown;
  return html`<h3 class="part">Wakes <span class="note">${countOf(wakes.length, 'wake', 'wakes')}: ${text}.${older}</span></h3>
<table class="plain">${head}<tbody>${rows.slice(0, wakesShown)}</tbody></table>
${rest > 0 ? html`<details><summary>${countOf(rest, 'earlier wake', 'earlier wakes')}</summary><table class="plain">${head}<tbody>${rows.slice(wakesShown)}</tbody></table></details>` : null}`;
}

function wakeRow(wake: Wake): Markup {
  const { waitedFor, waitedMs, lagMs, at } = wake;
  const lag = lagMs === null ? '–' : durationText(Math.max(0, lagMs));
  return html`<tr><td class="clock">${clockText(Date.parse(at) || 0)}</td><th scope="row">${wakeCause(wake)}</th><td class="word">${plainText(waitedFor)}</td><td class="number wide">${durationText(waitedMs)}</td><td class="number wide">${lag}</td></tr>`;
}

function wakeCause({ by, event }: Wake): string {
  if (by === 'webhook') return `webhook ${plainText(event ?? '')}`.trim();
  return by === 'safety_poll' ? 'safety poll' : 'deadline';
}
