/** The source of a batch's forks: a sandbox, a named snapshot, or a sandbox that the batch prepares. */

import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import { ItemsError, type ItemWish, type SourceWish } from '../../fanout/index.js';
import { preparing } from '../../job-settings/batch-settings.js';
import { jobSettings } from '../../job-settings/job-settings.js';
import type { FanoutSource } from '../../protocol/fanout/fanout-input.js';
import type { FilePut } from '../../protocol/job/job-input.js';
import { fieldsOn, settingOn } from '../settings/values.js';
import type { FanoutOptions } from './options.js';

export interface PrepareParts {
  /** Further fields of the request that creates the prepared sandbox, or forks from a snapshot. */
  readonly createBody?: OtherFields;
  readonly prompts: readonly string[];
  readonly put: readonly FilePut[];
}

/**
 * Without options for a source, the source is a fresh sandbox. The options were checked to be compatible, and their
 * scripts were read.
 * @throws UsageError if an option has a wrong value
 */
export function sourceOf(options: FanoutOptions, { createBody, prompts, put }: PrepareParts): FanoutSource {
  const { snapshot, allowStale, prepareType: type } = options;
  const set = (name: string) => settingOn('fanout', name, options);
  const source = set('source');
  if (source !== undefined) {
    return { kind: 'sandbox', sandboxId: String(source), allowStale: allowStale === true };
  }
  const ofSandbox = fieldsOn('fanout', options, ({ of, batch }) => of === 'sandbox' && batch === undefined);
  if (snapshot !== undefined) return { kind: 'snapshot', from: snapshot, body: { ...ofSandbox, ...createBody } };
  return {
    kind: 'prepare',
    body: { ...ofSandbox, ...(type !== undefined && { type }), ...createBody },
    put,
    commands: options.command,
    prompts: prompts.map((prompt) => ({ prompt })),
    deadlineMs: Number(set('prepareDeadline') ?? jobSettings.prepareDeadline.default),
    end: options.prepareEnd ?? jobSettings.prepareEnd.default,
  };
}

/** The sources of a batch and of its items, while the files of the preparation are not read. */
export interface BatchSources {
  /** That of the items that name none. */
  readonly batch: FanoutSource;
  /** @throws ItemsError if the options of the batch do not fit */
  ofItem(item: Pick<ItemWish, 'place' | 'source'>): FanoutSource;
}

/** The options were checked to be compatible. @throws UsageError if an option has a wrong value */
export function sourcesOf(options: FanoutOptions, parts: PrepareParts): BatchSources {
  const batch = sourceOf(options, parts);
  const prepared = sourceOf({ ...options, source: undefined, snapshot: undefined }, parts);
  /** What the item does not say of its source is as in the batch. */
  const ofWish = ({ source, snapshot, environment, setup }: SourceWish, place: ItemWish['place']): FanoutSource => {
    if (source !== undefined)
      return { kind: 'sandbox', sandboxId: source, allowStale: batch.kind === 'sandbox' && batch.allowStale };
    if (batch.kind === 'sandbox' && snapshot === undefined && environment === undefined) {
      const way = 'Name a snapshot or an environment in the item, or leave out --source.';
      const why = `setup prepares a sandbox, but --source ${batch.sandboxId} is forked as it is. ${way}`;
      throw new ItemsError(place, why);
    }
    if (prepared.kind !== 'prepare') throw new TypeError('A batch without source and snapshot prepares its source.');
    const { noEnv, ...body } = prepared.body;
    const made = { ...body, ...(environment !== undefined ? { environment } : noEnv && { noEnv }) };
    const from = snapshot ?? (batch.kind === 'snapshot' ? batch.from : undefined);
    const commands = setup ?? prepared.commands;
    if (from === undefined) return { ...prepared, body: made, commands };
    if (setup) return { ...prepared, body: { ...made, from }, commands };
    const { setupScript: _, type: __, from: ___, ...ofForks } = made;
    // That of --prepare-type is for sandboxes that are prepared.
    const type = parts.createBody?.type === undefined ? {} : { type: made.type };
    return { kind: 'snapshot', from, body: { ...ofForks, ...type } };
  };
  return { batch, ofItem: ({ source, place }) => (source ? ofWish(source, place) : batch) };
}

/** A notice that the source is a fresh sandbox; undefined if an option names or prepares the source. */
export function freshSourceText(options: FanoutOptions): string | undefined {
  const named = ['source', 'snapshot', 'environment', ...preparing] as const;
  return named.some((name) => [options[name] ?? []].flat().length > 0)
    ? undefined
    : 'The batch creates a fresh sandbox and forks it. For another source, use --source, --snapshot or --command.';
}
