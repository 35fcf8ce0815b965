/** Builds the job that the options of `run` describe. */
import { randomInt } from 'node:crypto';
import type { JobInput, SandboxSource } from '../../../workflows/job/types.js';
import { notifyTargetOf } from '../notify/notify-target.js';
import { parseDurationMs, parseTtlSeconds } from '../units.js';
import { requireSandboxId, UsageError } from '../usage-error.js';
import type { RunOptions } from './options.js';

/** A create that ends `cancelled` found no machine; a later attempt may find one. */
const maxGenerations = 3;

export interface JobParts {
  readonly deployment: string;
  readonly jobId: string;
  readonly prompts: readonly string[];
  readonly setupScript: string | undefined;
  readonly put: JobInput['put'];
  readonly collect: readonly string[];
}

/**
 * Builds the input of the job.
 * @throws UsageError if options conflict
 */
export function jobInputOf(options: RunOptions, parts: JobParts): JobInput {
  const { provider, model, effort } = options;
  return {
    deployment: parts.deployment,
    jobId: parts.jobId,
    source: sourceOf(options, parts.setupScript),
    waitFor: options.waitFor,
    put: parts.put,
    prompts: parts.prompts.map((prompt) => ({ prompt, provider, model, reasoningEffort: effort })),
    conversations: options.eachConversation ? 'each' : 'one',
    collect: parts.collect,
    end: options.end ?? (options.sandbox === undefined ? 'stop' : 'keep'),
    deadlineMs: parseDurationMs(options.deadline, '--deadline'),
    ttlSeconds: parseTtlSeconds(options.ttl),
    onUnknownOutcome: options.onUnknown,
    maxGenerations,
    notify: notifyTargetOf(options.notify),
  };
}

function sourceOf(options: RunOptions, setupScript: string | undefined): SandboxSource {
  const { sandbox, environment, from, type } = options;
  if (sandbox === undefined) {
    return {
      kind: 'create',
      body: {
        environment,
        from,
        setupScript,
        type,
        noEnv: options.env ? undefined : true,
        snapshots: options.snapshots ? undefined : false,
        monitoring: options.monitoring ? undefined : false,
      },
    };
  }
  const onlyForNew = [
    environment !== undefined && '--environment',
    from !== undefined && '--from',
    setupScript !== undefined && '--setup',
    !options.env && '--no-env',
    !options.snapshots && '--no-snapshots',
    !options.monitoring && '--no-monitoring',
  ].filter((flag) => flag !== false);
  if (onlyForNew.length > 0) {
    throw new UsageError(`${onlyForNew.join(', ')} cannot be used with --sandbox, which reuses a sandbox.`);
  }
  requireSandboxId(sandbox, '--sandbox');
  return { kind: 'existing', sandboxId: sandbox, type };
}

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

/** A readable id for a job without `--id`: the day and six random characters, like `0317-k3x9ab`. */
export function generateJobId(now: Date = new Date()): string {
  const day = now.toISOString().slice(5, 10).replace('-', '');
  const random = Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${day}-${random}`;
}
