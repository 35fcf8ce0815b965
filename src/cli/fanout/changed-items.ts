/** Changes the items of a batch as the options of `fanout resume` say. */

import { createTemplate, type Template } from '../../fanout/template.js';
import type { FanoutItem } from '../../protocol/fanout/fanout-input.js';
import type { PromptStep } from '../../protocol/job/job-input.js';
import type { Text } from '../../protocol/stored-text.js';
import { UsageError } from '../usage-error.js';

/** What changes about every item that runs. */
export interface ItemChange {
  /** Templates of the prompts; empty if the prompts stay. */
  readonly templates: readonly string[];
  readonly provider?: string;
  readonly model?: string;
  readonly effort?: PromptStep['reasoningEffort'];
}

/**
 * @param readText reads a long text from the result store
 * @returns the function that changes an item: see `PlanResumeOptions`. It throws UsageError if a template uses a column
 *   that the item does not have, or gives an empty prompt
 */
export function changeOf(
  change: ItemChange,
  readText: (ref: string) => Promise<string>,
): (item: FanoutItem, submitted: FanoutItem) => Promise<FanoutItem> {
  const templates = change.templates.map(createTemplate);
  return async (item, submitted) => {
    const steps = templates.length === 0 ? item.prompts : await filledSteps(templates, { item, submitted, readText });
    const labels = { ...item.labels };
    for (const [name, value] of Object.entries(axesOf(change))) {
      if (labels[name] === undefined) continue;
      if (value === undefined) delete labels[name];
      else labels[name] = value;
    }
    return {
      ...item,
      prompts: steps.map((step) => withChoice(step, change)),
      ...(item.labels && { labels }),
    };
  };
}

/** The labels of a matrix that no longer hold. */
function axesOf({ provider, model, effort }: ItemChange): Record<string, string | undefined> {
  return {
    ...(provider !== undefined && { provider, model: undefined, effort: undefined }),
    ...(model !== undefined && { model, effort: undefined }),
    ...(effort !== undefined && { effort }),
  };
}

/** As for `jobs rerun`: another provider takes over neither model nor effort, and another model no effort. */
function withChoice(step: PromptStep, { provider, model, effort }: ItemChange): PromptStep {
  const { model: oldModel, reasoningEffort: oldEffort, ...rest } = step;
  const newModel = model ?? (provider === undefined ? oldModel : undefined);
  const newEffort = effort ?? ((provider ?? model) === undefined ? oldEffort : undefined);
  return {
    ...rest,
    ...(provider !== undefined && { provider }),
    ...(newModel !== undefined && { model: newModel }),
    ...(newEffort !== undefined && { reasoningEffort: newEffort }),
  };
}

interface Filling {
  readonly item: FanoutItem;
  readonly submitted: FanoutItem;
  readonly readText: (ref: string) => Promise<string>;
}

async function filledSteps(templates: readonly Template[], { item, submitted, readText }: Filling) {
  const columns = await columnsOf(submitted, {
    used: new Set(templates.flatMap((template) => template.columns)),
    readText,
  });
  const refuse = (why: string) => new UsageError(`--prompt: item ${submitted.id}: ${why}`);
  return templates.map(
    (template, at): PromptStep => ({
      ...(item.prompts[at] ?? item.prompts[0]),
      prompt: template.fill(columns, refuse),
    }),
  );
}

/** The columns of the item as it was submitted, so that the same template gives the same prompt every time. */
async function columnsOf(
  { id, prompts, labels = {}, columns = {} }: FanoutItem,
  { used, readText }: { readonly used: ReadonlySet<string>; readonly readText: Filling['readText'] },
): Promise<ReadonlyMap<string, string>> {
  const [first, ...more] = prompts;
  const own: Record<string, Text> = { id, ...(first && more.length === 0 && { prompt: first.prompt }) };
  const texts = new Map<string, string>();
  for (const [name, text] of Object.entries({ ...own, ...labels, ...columns })) {
    if (typeof text === 'string') texts.set(name, text);
    else texts.set(name, used.has(name) ? await readText(text.ref) : '');
  }
  return texts;
}
