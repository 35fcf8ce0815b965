/** The results of a batch in formats that other programs read: predictions for SWE-bench, and JUnit XML for CI. */
import { failureClassOf } from '../../../protocol/failure-class.js';
import type { ItemResult } from '../../../protocol/fanout/fanout-result.js';
import { patchName } from '../../../protocol/job/patch-name.js';
import { html, type Markup } from '../../../report/markup.js';

/**
 * One line of a predictions file. An item without a patch has an empty one, which counts as not resolved.
 * @param model the name of what is evaluated. Default: the label `model` of the item, or else `sandflow`
 * @throws the error of the result store for a patch that it cannot read
 */
export async function predictionOf(
  item: ItemResult,
  read: (ref: string) => Promise<Buffer>,
  model: string | undefined,
): Promise<string> {
  const { itemId, labels } = item;
  const ref = patchRefOf(item);
  return JSON.stringify({
    instance_id: itemId,
    model_name_or_path: model ?? labels.model ?? 'sandflow',
    model_patch: ref === null ? '' : (await read(ref)).toString('utf8'),
  });
}

const patchRefOf = ({ job }: ItemResult) => job?.files.find(({ path }) => path === patchName)?.ref ?? null;

/** True for an item that should have a patch, or may have one: it would count as not resolved. */
export const lacksPatch = (item: ItemResult) =>
  item.unreadable !== undefined || (item.outcome === 'completed' && patchRefOf(item) === null);

/** Reads the items once: those of a batch that runs may have other results the next time. */
export async function* jUnitOf(batchId: string, items: AsyncIterable<ItemResult>): AsyncGenerator<string> {
  const counts = { tests: 0, failures: 0, errors: 0, skipped: 0, seconds: 0 };
  const cases: string[] = [];
  for await (const item of items) {
    const kind = kindOf(item);
    counts.tests += 1;
    counts.seconds += secondsOf(item);
    if (kind !== null) counts[kinds[kind]] += 1;
    cases.push(jUnitCase(item));
  }
  const time = counts.seconds.toFixed(3);
  const suite = html`<testsuite name="${clean(batchId)}" tests="${counts.tests}" failures="${counts.failures}" errors="${counts.errors}" skipped="${counts.skipped}" time="${time}">`;
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suite.html}\n`;
  yield* cases;
  yield '</testsuite>\n</testsuites>\n';
}

/** One item as a test case: a failure is of the agent or of a check of its work, an error of anything else. */
function jUnitCase(item: ItemResult): string {
  const kind = kindOf(item);
  const { batchId, itemId, outcome, job } = item;
  const why = clean(job?.error?.message ?? job?.prompts.find(({ error }) => error !== null)?.error ?? outcome);
  let inner: Markup = html``;
  if (kind === 'skipped') inner = html`<skipped/>`;
  if (kind === 'failure') inner = html`<failure type="${outcome}" message="${why}">${why}</failure>`;
  if (kind === 'error') inner = html`<error type="${outcome}" message="${why}">${why}</error>`;
  const time = secondsOf(item).toFixed(3);
  return html`<testcase classname="${clean(batchId)}" name="${clean(itemId)}" time="${time}">${inner}</testcase>\n`
    .html;
}

const kinds = { failure: 'failures', error: 'errors', skipped: 'skipped' } as const;

function kindOf({ outcome, failureClass }: ItemResult): keyof typeof kinds | null {
  if (outcome === 'completed') return null;
  if (outcome === 'not_started') return 'skipped';
  // Results of earlier versions have no class.
  const whose = failureClass ?? failureClassOf({ outcome, error: null });
  return whose === 'agent' || whose === 'check' ? 'failure' : 'error';
}

const secondsOf = ({ job }: ItemResult) => (job?.durationMs ?? 0) / 1_000;

/** XML has no way to write control characters and lone surrogates. */
const clean = (text: string) =>
  text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd');
