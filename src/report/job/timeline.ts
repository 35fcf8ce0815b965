/** The section with the phases and the wakes of a job. */
import type { Wake } from '../../protocol/job/job-result.js';
import { clockText } from '../browser/words.js';
import { countOf, countText, durationText } from '../format.js';
import { html, type Markup } from '../markup.js';
import type { SegmentKind } from '../page-data.js';
import { plainText } from '../plain-text.js';
import type { JobReportData } from './job-data.js';
import type { JobSpan } from './job-times.js';

const phaseWords: Readonly<Record<SegmentKind, string>> = {
  queued: 'requesting',
  booting: 'booting',
  preparing: 'preparing',
  prompting: 'prompting',
  ending: 'collecting and ending',
};

export function timelineOfJob({ wakes, wakeCount }: JobReportData, { startMs, endMs, segments }: JobSpan): Markup {
  const rows = segments.map(
    ({ kind, from, to }) =>
      html`<tr><th scope="row">${phaseWords[kind]}</th><td class="number">${durationText(to - from)}</td><td class="number">${clockText(startMs + from)}</td><td class="number wide">${clockText(startMs + to)}</td></tr>`,
  );
  return html`<section class="card" id="timeline" aria-labelledby="timeline-title"><h2 id="timeline-title">Timeline</h2>
<table class="plain"><thead><tr><th scope="col">Phase</th><th scope="col" class="number">Took</th><th scope="col" class="number">From (UTC)</th><th scope="col" class="number wide">To</th></tr></thead>
<tbody>${rows}<tr class="total"><th scope="row">start to end</th><td class="number">${durationText(endMs - startMs)}</td><td></td><td class="wide"></td></tr></tbody></table>
${wakes.length > 0 ? wakesPart(wakes, wakeCount) : null}</section>`;
}

function wakesPart(wakes: readonly Wake[], wakeCount: number): Markup {
  const causes: readonly (readonly [Wake['by'], string])[] = [
    ['webhook', 'by a webhook'],
    ['safety_poll', 'by a safety poll'],
    ['deadline', 'by the deadline'],
  ];
  const counts = causes
    .map(([cause, word]) => [wakes.filter(({ by }) => by === cause).length, word] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${countText(count)} ${word}`);
  const older = wakeCount > wakes.length ? ` Of ${countText(wakeCount)} wakes, the newest are shown.` : '';
  return html`<details class="wakes"><summary>Wakes <span class="note">${countOf(wakes.length, 'wake', 'wakes')}: ${counts.join(', ')}.${older}</span></summary>
<table class="plain"><thead><tr><th scope="col">Woke (UTC)</th><th scope="col">Woken by</th><th scope="col">Waited for</th><th scope="col" class="number wide">Waited</th><th scope="col" class="number wide">Age of the event</th></tr></thead>
<tbody>${[...wakes].reverse().map(wakeRow)}</tbody></table></details>`;
}

function wakeRow({ by, event, waitedFor, waitedMs, lagMs, at }: Wake): Markup {
  const cause = by === 'webhook' ? `webhook ${plainText(event ?? '')}`.trim() : by.replace('_', ' ');
  const lag = lagMs === null ? '–' : durationText(Math.max(0, lagMs));
  return html`<tr><td class="clock">${clockText(Date.parse(at) || 0)}</td><th scope="row">${cause}</th><td class="word">${plainText(waitedFor)}</td><td class="number wide">${durationText(waitedMs)}</td><td class="number wide">${lag}</td></tr>`;
}
