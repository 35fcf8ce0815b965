/** The options of `run`, and the job that they describe. */
import type { JobInput, PromptStep, SandboxSource } from '../../../workflows/job/types.js';
import { isSandboxId } from '../../contract/ids.js';
import { parseDurationMs } from '../duration.js';
import { notifyTargetOf } from '../notify/notify-target.js';
import { UsageError } from '../usage-error.js';

/** As the command line parser returns them. */
export interface RunOptions {
  readonly prompt: readonly string[];
  readonly eachConversation?: boolean;
  readonly provider?: string;
  readonly model?: string;
  readonly effort?: PromptStep['reasoningEffort'];
  readonly type?: 'small' | 'default' | 'large' | 'xlarge';
  readonly ttl: string;
  readonly id?: string;
  readonly from?: string;
  readonly sandbox?: string;
  readonly environment?: string;
  readonly setup?: string;
  readonly put: readonly string[];
  readonly get: readonly string[];
  /** What to do with the sandbox at the end: `--then`. */
  readonly end?: 'stop' | 'delete' | 'keep';
  readonly waitFor: 'usable' | 'hydrated';
  readonly deadline: string;
  readonly onUnknown: 'wait' | 'abandon' | 'resend';
  readonly notify?: string;
  readonly detach?: boolean;
  readonly json?: boolean;
  readonly again?: boolean;
  readonly watchDeadline?: string;
  readonly snapshots: boolean;
  readonly monitoring: boolean;
  readonly env: boolean;
  readonly quiet?: boolean;
}

/** A create that ends `cancelled` found no machine; another attempt may. */
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
  const ttlMs = parseDurationMs(options.ttl, '--ttl');
  if (ttlMs < 1_000) throw new UsageError('--ttl must be at least 1s.');
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
    ttlSeconds: Math.ceil(ttlMs / 1_000),
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
    throw new UsageError(`${onlyForNew.join(', ')} applies to a new sandbox only; remove it or --sandbox.`);
  }
  if (!isSandboxId(sandbox)) {
    throw new UsageError(`--sandbox: "${sandbox}" is not a sandbox id, like bx_2345abcd.`);
  }
  return { kind: 'existing', sandboxId: sandbox, type };
}
