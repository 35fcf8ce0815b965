/** Builds the job that the options of `run` describe. */
import { randomInt } from 'node:crypto';
import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import type { JobInput, SandboxSource } from '../../protocol/job/job-input.js';
import { notifyTargetOf } from '../notify/notify-target.js';
import { escalationOf } from '../stops/escalation-options.js';
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
  /** Further fields of the request that creates or forks the sandbox. */
  readonly createBody?: OtherFields;
  /** Further fields of the request of each prompt. */
  readonly promptBody?: OtherFields;
  readonly put: JobInput['put'];
  readonly collect: readonly string[];
  readonly collectDiff?: string;
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
    source: sourceOf(options, parts),
    waitFor: options.waitFor,
    put: parts.put,
    prompts: parts.prompts.map((prompt) => ({
      ...{ prompt, provider, model, reasoningEffort: effort },
      ...parts.promptBody,
    })),
    conversations: options.eachConversation ? 'each' : 'one',
    conversationId: conversationOf(options),
    collect: parts.collect,
    collectDiff: parts.collectDiff,
    end: options.end ?? (options.sandbox === undefined ? 'stop' : 'keep'),
    deadlineMs: parseDurationMs(options.deadline, '--deadline'),
    ttlSeconds: options.ttl === 'none' ? null : parseTtlSeconds(options.ttl),
    onUnknownOutcome: options.onUnknown,
    maxGenerations,
    notify: notifyTargetOf(options.notify),
    escalate: escalationOf(options),
  };
}

function conversationOf({ conversation, sandbox, fork, eachConversation }: RunOptions): string | undefined {
  if (conversation === undefined) return undefined;
  if (sandbox === undefined && fork === undefined) {
    throw new UsageError('--conversation requires --sandbox or --fork: a new sandbox has no conversation.');
  }
  if (eachConversation) throw new UsageError('Use --conversation or --each-conversation, not both.');
  return conversation;
}

function sourceOf(options: RunOptions, { setupScript, createBody }: JobParts): SandboxSource {
  const { sandbox, fork, environment, from, type } = options;
  const snapshots = options.snapshots ? undefined : false;
  const monitoring = options.monitoring ? undefined : false;
  const onlyForCreated = [
    environment !== undefined && '--environment',
    from !== undefined && '--from',
    setupScript !== undefined && '--setup',
    !options.env && '--no-env',
  ];
  if (sandbox !== undefined && fork !== undefined) throw new UsageError('Use --sandbox or --fork, not both.');
  if (fork !== undefined) {
    refuse(onlyForCreated, '--fork');
    requireSandboxId(fork, '--fork');
    return { type, snapshots, monitoring, ...createBody, kind: 'fork', sandboxId: fork };
  }
  if (sandbox !== undefined) {
    refuse(
      [
        ...onlyForCreated,
        !options.snapshots && '--no-snapshots',
        !options.monitoring && '--no-monitoring',
        options.createBody !== undefined && '--create-body',
      ],
      '--sandbox',
    );
    requireSandboxId(sandbox, '--sandbox');
    return { kind: 'existing', sandboxId: sandbox, type };
  }
  if (!options.env && environment !== undefined) throw new UsageError('Use --environment or --no-env, not both.');
  const noEnv = options.env ? undefined : true;
  return {
    kind: 'create',
    body: { environment, from, setupScript, type, noEnv, snapshots, monitoring, ...createBody },
  };
}

const whatItDoes = { '--sandbox': 'reuses a sandbox', '--fork': 'copies a sandbox' } as const;

function refuse(flags: readonly (string | false)[], beside: keyof typeof whatItDoes): void {
  const given = flags.filter((flag) => flag !== false);
  if (given.length === 0) return;
  throw new UsageError(`${given.join(', ')} cannot be used with ${beside}, which ${whatItDoes[beside]}.`);
}

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

/** A readable id for a job without `--id`: the day and six random characters, like `0317-k3x9ab`. */
export function generateJobId(now: Date = new Date()): string {
  const day = now.toISOString().slice(5, 10).replace('-', '');
  const random = Array.from({ length: 6 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${day}-${random}`;
}
