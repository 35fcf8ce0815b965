/** The source of a batch's forks: a sandbox, a named snapshot, or a sandbox that the batch prepares. */

import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import type { FanoutSource } from '../../protocol/fanout/fanout-input.js';
import type { FilePut } from '../../protocol/job/job-input.js';
import { parseDurationMs } from '../units.js';
import { requireSandboxId, UsageError } from '../usage-error.js';
import type { FanoutOptions } from './options.js';

const defaultPrepareDeadline = '1h';

export interface PrepareParts {
  /** Further fields of the request that creates the prepared sandbox, or forks from a snapshot. */
  readonly createBody?: OtherFields;
  readonly setupScript: string | undefined;
  readonly prompts: readonly string[];
  readonly put: readonly FilePut[];
}

/**
 * Without options for a source, the source is a fresh sandbox.
 * @throws UsageError if options conflict
 */
export function sourceOf(options: FanoutOptions, parts: PrepareParts): FanoutSource {
  const { source, snapshot, environment, allowStale } = options;
  const noEnv = !options.env;
  if (noEnv && environment !== undefined) throw new UsageError('Use --environment or --no-env, not both.');
  if (source !== undefined && snapshot !== undefined) {
    throw new UsageError('Use --source or --snapshot, not both.');
  }
  if (allowStale && source === undefined) {
    throw new UsageError('--allow-stale requires --source.');
  }
  if (source !== undefined) {
    const created = [environment !== undefined && '--environment', noEnv && '--no-env'];
    refuse([...preparing(options), ...created, options.createBody !== undefined && '--create-body'], '--source');
    requireSandboxId(source, '--source');
    return { kind: 'sandbox', sandboxId: source, allowStale: allowStale === true };
  }
  if (snapshot !== undefined) {
    refuse(preparing(options), '--snapshot');
    const body = { ...(environment !== undefined && { environment }), ...(noEnv && { noEnv }) };
    return { kind: 'snapshot', from: snapshot, body: { ...body, ...parts.createBody } };
  }
  const { setupScript, prompts, put } = parts;
  const { prepareType: type, prepareDeadline = defaultPrepareDeadline, prepareThen = 'stop', command } = options;
  return {
    kind: 'prepare',
    body: {
      ...(environment !== undefined && { environment }),
      ...(noEnv && { noEnv }),
      ...(setupScript !== undefined && { setupScript }),
      ...(type !== undefined && { type }),
      ...parts.createBody,
    },
    put,
    commands: command,
    prompts: prompts.map((prompt) => ({ prompt })),
    deadlineMs: parseDurationMs(prepareDeadline, '--prepare-deadline'),
    end: prepareThen,
  };
}

/** A notice that the source is a fresh sandbox; undefined if an option names or prepares the source. */
export function freshSourceText(options: FanoutOptions): string | undefined {
  const { source, snapshot, environment } = options;
  const isNamed = (source ?? snapshot ?? environment) !== undefined || preparing(options).some(Boolean);
  return isNamed
    ? undefined
    : 'The batch creates a fresh sandbox and forks it. For another source, use --source, --snapshot or --command.';
}

function preparing(options: FanoutOptions): (string | false)[] {
  return [
    options.setup !== undefined && '--setup',
    options.command.length > 0 && '--command',
    options.preparePut.length > 0 && '--prepare-put',
    options.preparePrompt.length > 0 && '--prepare-prompt',
    options.prepareType !== undefined && '--prepare-type',
    options.prepareDeadline !== undefined && '--prepare-deadline',
    options.prepareThen !== undefined && '--prepare-then',
  ];
}

function refuse(flags: readonly (string | false)[], beside: string): void {
  const given = flags.filter((flag) => flag !== false);
  if (given.length === 0) return;
  throw new UsageError(`${given.join(', ')} cannot be used with ${beside}, which replaces the prepared sandbox.`);
}
