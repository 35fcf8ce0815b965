/** Renders the report as one self-contained file, which loads nothing from any network. */
import { itemWorkflowId, jobWorkflowId } from '../../addresses/addresses.js';
import { maxAllTextBytes, maxTextBytes } from '../cut-text.js';
import { dataBlock, documentOf } from '../document.js';
import { bytesText, countOf } from '../format.js';
import { html, type Markup } from '../markup.js';
import { outcomeStyles, styleOf } from '../outcome-styles.js';
import type { FanoutReportData, PageData } from '../page-data.js';
import { plainText } from '../plain-text.js';
import { sum } from '../stats.js';
import { workflowUrl } from '../workflow-url.js';
import { activityOf } from './activity.js';
import { failureGroups } from './failures.js';
import { matrixOf } from './matrix.js';
import { pageDetails, pageItem, textLimit } from './page-items.js';
import { failuresSection } from './sections/failures.js';
import { costSection, durationsSection } from './sections/figures.js';
import { headerSection } from './sections/header.js';
import { dialogs, itemsSection } from './sections/items.js';
import { matrixSection } from './sections/matrix.js';
import { outcomesSection, tilesSection } from './sections/outcomes.js';
import { timelineSection } from './sections/timeline.js';
import { variantsSection } from './sections/variants.js';
import { outcomeRows } from './summary.js';
import { tilesOf } from './tiles.js';
import { variantRows } from './variants.js';

const detailsPerBlock = 50;
const activityBuckets = 200;

/**
 * Renders the report of a batch as one HTML document. The document works offline and runs only its own script. Texts of
 * agents are never interpreted as HTML. One text takes at most 20 kB of the file, and all texts together take at most
 * 24 MB. Longer texts are cut at their end, and the report says so.
 * @returns the document, to be written as UTF-8
 */
export function renderFanoutReport(data: FanoutReportData): string {
  const { result, previews } = data;
  const startMs = Date.parse(result.startedAt);
  const results = [...data.items].sort((a, b) => a.index - b.index);
  const untilMs = endOf(data, startMs);
  const spanMs = Math.max(1, untilMs - startMs);
  const items = results.map((item) => pageItem(item, startMs, untilMs));
  const { dollarsPerSecond = null, ui } = data;
  const failures = failureGroups(items);
  const placeOf = new Map(items.map((item, place) => [item, place]));
  const limit = textLimit(results, previews);
  const names = [...new Set([...Object.keys(outcomeStyles), ...items.map(({ outcome }) => outcome)])];
  const page: PageData = {
    startedAtMs: startMs,
    outcomes: Object.fromEntries(names.map((outcome) => [outcome, styleOf(outcome)])),
    items,
    failures: failures.map((group) => group.items.map((item) => placeOf.get(item) ?? 0)),
    dollarsPerSecond,
    detailsPerBlock,
  };
  const blocks: Markup[] = [dataBlock('report-data', page)];
  for (let from = 0; from < results.length; from += detailsPerBlock) {
    const part = results.slice(from, from + detailsPerBlock).map((item) => {
      const own = ui && workflowUrl(ui, itemWorkflowId(ui.deployment, result.batchId, item.index));
      return pageDetails(item, previews, { limit, workflowUrl: own ?? null });
    });
    blocks.push(dataBlock(`details-${from / detailsPerBlock}`, part));
  }
  const activity = activityOf(items, spanMs, activityBuckets);
  const earlier = items.filter((item) => item.earlier).length;
  const batchUrl = ui ? workflowUrl(ui, jobWorkflowId(ui.deployment, result.batchId)) : null;
  const left =
    earlier > 0 ? `It shows the newest run, without ${countOf(earlier, 'item', 'items')} of earlier runs.` : '';
  const matrix = matrixOf(items);
  // The batch does not count attempts of earlier runs; the items do.
  const retried = Math.max(result.counts.retried, sum(items.map(({ generation }) => Math.max(0, generation - 1))));
  const columns = [
    outcomesSection(outcomeRows(items, result.counts), { ...result.counts, retried }, dollarsPerSecond),
    durationsSection(items),
    costSection(items, result.budget, dollarsPerSecond),
  ];
  const body = html`<a class="skip" href="#items">Skip to the items</a>
<div class="page">${headerSection(data, { spanMs, earlier, workflowUrl: batchUrl })}
<main>${tilesSection(tilesOf(result, items, { spanMs, dollarsPerSecond }))}
${failuresSection(failures)}${variantsSection(matrix ? variantRows(matrix) : [], dollarsPerSecond)}
${columns.some((column) => column !== null) ? html`<div class="columns">${columns}</div>` : null}
${timelineSection(activity, spanMs, left)}
${items.length > 0 ? null : html`<p class="card empty note">No item has a result${result.outcome === null ? ' yet' : ''}.</p>`}${matrixSection(matrix, placeOf)}${itemsSection(items)}</main>
<footer><p>Each text is cut at ${bytesText(limit)}${limit < maxTextBytes ? ', to limit their total size' : ''}. All texts together take at most ${bytesText(maxAllTextBytes)}. The full texts are in results.jsonl and the result store.</p></footer></div>
${dialogs()}${blocks}`;
  return documentOf(`${plainText(result.title ?? result.batchId)} – sandflow fan-out`, body, 'main.js');
}

/**
 * When the batch ended or, if it still runs, when the report is created. Never earlier than the end of an item in the
 * report.
 */
function endOf({ result, items, generatedAt }: FanoutReportData, startMs: number): number {
  const reportedMs = Date.parse(result.outcome === null ? generatedAt : result.since);
  const ended = 'durationMs' in result ? startMs + result.durationMs : reportedMs;
  return items.reduce((latest, { times }) => {
    const at = Date.parse(times.endedAt ?? '');
    return Number.isNaN(at) ? latest : Math.max(latest, at);
  }, ended);
}
