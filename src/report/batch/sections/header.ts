/** The head of the report: the name of the batch, and how it ended. */
import type { FanoutOutcome } from '../../../protocol/fanout/fanout-input.js';
import { endText } from '../../../protocol/shortfall.js';
import { countOf, countText, durationText, timeText } from '../../format.js';
import { html, link, type Markup } from '../../markup.js';
import type { FanoutReportData } from '../../page-data.js';
import { plainText } from '../../plain-text.js';

const outcomes: Readonly<Record<FanoutOutcome, { word: string; mark: string; tone: string; means: string }>> = {
  completed: { word: 'Completed', mark: '✓', tone: 'good', means: 'Every item completed, or as many as required.' },
  partly_failed: { word: 'Partly failed', mark: '▲', tone: 'warn', means: 'Every item ended; some did not complete.' },
  failed_fast: {
    word: 'Failed fast',
    mark: '✕',
    tone: 'bad',
    means: 'The batch ended at the first failure, as configured.',
  },
  budget_spent: {
    word: 'Budget spent',
    mark: '◔',
    tone: 'warn',
    means: 'The budget was spent before every item ran.',
  },
  source_failed: { word: 'Source failed', mark: '✕', tone: 'bad', means: 'The source could not be forked.' },
  deadline_exceeded: {
    word: 'Deadline exceeded',
    mark: '◔',
    tone: 'warn',
    means: 'The deadline passed before every item ended.',
  },
  cancelled: { word: 'Cancelled', mark: '■', tone: 'calm', means: 'The batch was cancelled.' },
};

const running = {
  word: 'Still running',
  mark: '…',
  tone: 'calm',
  means: 'The numbers are from the time of the report.',
};

/** @param earlier number of items that ended in earlier runs of the batch */
export function headerSection(
  { result, generatedAt }: FanoutReportData,
  { spanMs, earlier, workflowUrl }: { spanMs: number; earlier: number; workflowUrl: string | null },
): Markup {
  const style = result.outcome ? outcomes[result.outcome] : running;
  const { shortfall } = result;
  const lacks = shortfall !== null && result.outcome === 'completed';
  const [tone, mark] = lacks ? ['warn', '▲'] : [style.tone, style.mark];
  const ofRun = earlier > 0 ? ' of this run' : '';
  const batchId = plainText(result.batchId);
  const facts: readonly (readonly [string, string | Markup])[] = [
    ['Batch', workflowUrl === null ? batchId : link(workflowUrl, batchId)],
    // Forks of a snapshot have no source sandbox.
    ...(result.sourceSandboxId === null ? [] : [['Source', result.sourceSandboxId] as const]),
    [earlier > 0 ? 'This run started' : 'Started', timeText(result.startedAt)],
    [result.outcome ? `Took${earlier > 0 ? ', this run' : ''}` : 'Running for', durationText(spanMs)],
    ['Items', `${countOf(result.counts.items, 'item', 'items')}${result.sealed ? '' : ', more to come'}`],
    ...('apiCalls' in result ? [[`API calls${ofRun}`, countText(result.apiCalls)] as const] : []),
  ];
  return html`<header class="top"><p class="eyebrow">sandflow fan-out</p>
<h1 dir="auto">${plainText(result.title ?? result.batchId)}</h1>
<p class="verdict"><strong class="badge tone-${tone}"><span aria-hidden="true">${mark}</span> ${shortfall === null ? style.word : plainText(endText({ outcome: style.word, shortfall }))}</strong> <span>${style.means}</span></p>
<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? plainText(value) : value}</dd></div>`)}</dl>
${alerts(result)}${earlier > 0 ? html`<p class="note">The batch was resumed: ${countOf(earlier, 'item', 'items')} ended in an earlier run. Pace, calls and timeline are those of the newest run; outcomes, durations and cost are those of all runs.</p>` : null}<p class="made">Created ${timeText(generatedAt)}.</p></header>`;
}

const leftShown = 20;

function alerts(result: FanoutReportData['result']): Markup[] {
  const texts: string[] = [];
  if (result.error) texts.push(`${result.error.code}: ${result.error.message}`);
  if (result.blocked) texts.push(`Waiting since ${timeText(result.blocked.since)}: ${result.blocked.message}`);
  if (result.throttledUntil) texts.push(`The service throttles forks until ${timeText(result.throttledUntil)}.`);
  if ('left' in result && result.left.length > 0) {
    const shown = result.left.slice(0, leftShown).map(({ sandboxId, sandboxName }) => sandboxId ?? sandboxName);
    const count = result.left.length + result.leftMore;
    const more = count > leftShown ? ' and more' : '';
    texts.push(`${countOf(count, 'leftover needs', 'leftovers need')} attention: ${shown.join(', ')}${more}`);
  }
  return texts.map(
    (text) => html`<p class="alert" dir="auto"><span aria-hidden="true">▲</span> ${plainText(text)}</p>`,
  );
}
