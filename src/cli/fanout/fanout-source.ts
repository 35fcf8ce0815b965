/** The source of a batch's forks: a sandbox, a named snapshot, or a sandbox that the batch prepares. */

import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import { preparing } from '../../job-settings/batch-settings.js';
import { jobSettings } from '../../job-settings/job-settings.js';
import type { FanoutSource } from '../../protocol/fanout/fanout-input.js';
import type { FilePut } from '../../protocol/job/job-input.js';
import { fieldsOn, settingOn } from '../settings/values.js';
import type { FanoutOptions } from './options.js';

export interface PrepareParts {
  /** Further fields of the request that creates the prepared sandbox, or forks from a snapshot. */
  readonly createBody?: OtherFields;
  readonly setupScript: string | undefined;
  readonly prompts: readonly string[];
  readonly put: readonly FilePut[];
}

/**
 * Without options for a source, the source is a fresh sandbox. The options were checked to be compatible.
 * @throws UsageError if an option has a wrong value
 */
export function sourceOf(
  options: FanoutOptions,
  { createBody, setupScript, prompts, put }: PrepareParts,
): FanoutSource {
  const { snapshot, allowStale } = options;
  const set = (name: string) => settingOn('fanout', name, options);
  const source = set('source');
  if (source !== undefined) {
    return { kind: 'sandbox', sandboxId: String(source), allowStale: allowStale === true };
  }
  const environment = fieldsOn('fanout', options, ({ of, batch }) => of === 'sandbox' && batch === undefined);
  if (snapshot !== undefined) return { kind: 'snapshot', from: snapshot, body: { ...environment, ...createBody } };
  const type = options.prepareType;
  return {
    kind: 'prepare',
    body: {
      ...environment,
      ...(setupScript !== undefined && { setupScript }),
      ...(type !== undefined && { type }),
      ...createBody,
    },
    put,
    commands: options.command,
    prompts: prompts.map((prompt) => ({ prompt })),
    deadlineMs: Number(set('prepareDeadline') ?? jobSettings.prepareDeadline.default),
    end: options.prepareEnd ?? jobSettings.prepareEnd.default,
  };
}

/** A notice that the source is a fresh sandbox; undefined if an option names or prepares the source. */
export function freshSourceText(options: FanoutOptions): string | undefined {
  const named = ['source', 'snapshot', 'environment', ...preparing] as const;
  return named.some((name) => isGiven(options[name]))
    ? undefined
    : 'The batch creates a fresh sandbox and forks it. For another source, use --source, --snapshot or --command.';
}

function isGiven(value: string | readonly string[] | undefined): boolean {
  return value !== undefined && value.length > 0;
}
