/** Renders the report of a batch as one self-contained HTML file, which runs no script and loads nothing. */
import { createHash } from 'node:crypto';
import { itemWorkflowId } from '../addresses/addresses.js';
import type { ItemResult } from '../protocol/fanout/fanout-result.js';
import { createRoom, lineOf } from './bounded-text.js';
import { roundsSection } from './checks.js';
import { comparisonSection, matrixOf } from './comparison.js';
import { type FailedItem, failureGroups, failureOf, failuresSection } from './failures.js';
import { itemDetails, itemsSection, type PageItem, pageItem, placeOf } from './items.js';
import { leftSentence } from './left-words.js';
import { html, Markup } from './markup.js';
import {
  header,
  leftSection,
  type Overview,
  outcomesSection,
  type ReportContext,
  titleOf,
  workflowUrl,
} from './overview.js';
import { styleText } from './style.js';

export type FanoutReport = ReturnType<typeof createFanoutReport>;

/**
 * @param result the result of the batch, or its progress while it runs
 * @param previews beginnings of collected text files, by their reference in the result store; read by `add`
 */
export function createFanoutReport(
  result: Overview['result'],
  previews: ReadonlyMap<string, string>,
  context: ReportContext = {},
) {
  const startMs = Date.parse(result.startedAt);
  const items: PageItem[] = [];
  const failed: FailedItem[] = [];
  const left = new Set('left' in result ? result.left.map(leftSentence) : []);
  // The failures of a large batch must not lose their details to what completed before them.
  const rooms = { completed: createRoom(), other: createRoom() };
  return {
    /**
     * Adds the newest result of an item, in any order. The report keeps only what the page shows of it.
     * @param saved where the files of the item are saved, relative to the page and with `/` between folders, by their
     * remote path. Default: nowhere; the page then links to none
     */
    add(item: ItemResult, saved: ReadonlyMap<string, string> = new Map()): void {
      const room = item.outcome === 'completed' ? rooms.completed : rooms.other;
      const own = workflowUrl(context.ui, (deployment) => itemWorkflowId(deployment, result.batchId, item.index));
      const about = { room, previews, saved, workflowUrl: own, dollarsPerSecond: context.dollarsPerSecond ?? null };
      items.push(pageItem(item, startMs, room.takeItem() ? itemDetails(item, about) : null));
      const failure = failureOf(item);
      if (failure) failed.push(failure);
      for (const one of item.job?.left ?? []) left.add(leftSentence(one));
    },
    /** Why items failed, the most frequent code first. */
    failures: () => failureGroups(failed),
    /**
     * The page, to be written as UTF-8. Texts of agents are never interpreted as HTML.
     * @param generatedAt ISO 8601. Default: now
     */
    render(generatedAt = new Date().toISOString()): string {
      items.sort((a, b) => a.index - b.index);
      const about = { result, items, generatedAt, context };
      const none = html`<p class="note">No item has a result${result.outcome === null ? ' yet' : ''}.</p>`;
      return documentOf(
        `${titleOf(result)} – sandflow fan-out`,
        html`${header(about)}<main>${leftSection([...left])}
${failuresSection(failureGroups(failed), (itemId) => placeOf(lineOf(itemId)))}
${outcomesSection(about)}
${roundsSection(items)}
${comparisonSection(matrixOf(items), context.dollarsPerSecond ?? null)}
${itemsSection(items) ?? none}</main>`,
      );
    },
  };
}

/** The document around the body of a page. It allows only its own style. */
function documentOf(title: string, body: Markup): string {
  const digest = createHash('sha256').update(styleText).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">
<title>${title}</title><style>${new Markup(styleText)}</style></head>
<body>${body}</body></html>
`;
  return page.html;
}
