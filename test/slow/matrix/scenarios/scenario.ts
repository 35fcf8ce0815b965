/** A scenario that is run with each fault at each of its calls. */
import type { SandboxRecord } from '../../../../local-service/src/store/sandbox-record.js';
import type { JobResult } from '../../../../workflows/index.js';
import type { Lens } from '../faults/fault-proxy.js';
import type { Tag } from '../tagged-client.js';
import type { World } from '../world.js';

export interface RunOptions {
  /** Unique, of a-z0-9 and dashes. */
  readonly id: string;
  /** The deadline of the whole run, in ms. */
  readonly deadlineMs: number;
  readonly taskQueue: string;
  /** Its own source, for acts of others. Default: the shared one of the world. */
  readonly sourceId?: string;
}

/** How a run ended. */
export interface Ended {
  readonly outcome: string;
  /** Results of jobs: of the one job, or of all items. */
  readonly jobs: readonly JobResult[];
  /** Ids and names in `left` of the result, in any form. */
  readonly left: readonly string[];
  /** Sandboxes that the result reports as archived or deleted. */
  readonly saysArchived: readonly string[];
  readonly saysDeleted: readonly string[];
}

export interface Prepared {
  readonly workflowId: string;
  readonly isOf: (tag: Tag) => boolean;
  /** A sandbox that the run created or was given. */
  readonly owns: (sandbox: SandboxRecord) => boolean;
  /** Sandboxes that existed before the run. */
  readonly given: readonly string[];
  /** Its own source, if any. Default: the world's source. */
  readonly sourceId?: string | undefined;
  /** Prompts of others in these sandboxes. They must not change. */
  readonly othersPromptIds?: readonly string[];
  /** True if the workflow is reset once: then one of its runs is terminated. */
  readonly isReset?: boolean | undefined;
  /** Runs it to its end. @throws if a workflow fails */
  run(): Promise<Ended>;
}

export interface Scenario {
  readonly name: string;
  readonly workflow: 'createThenPrompt' | 'forkFanout' | 'stopAndAwaitArchive' | 'retentionCleanup';
  /** The outcome without any fault. */
  readonly expected: string;
  /** True if sandboxes may stay usable after a run without faults. */
  readonly keeps?: boolean;
  /** Sandboxes that a run without faults creates. */
  readonly makes: number;
  /** Faults of every run, by site: they lead to calls that are made only after a fault. */
  readonly always?: Readonly<Record<string, string>>;
  /** A variation of the service in every run. */
  readonly lens?: Lens;
  /** The only sites with rows, if others have those of another scenario. Default: all. */
  readonly rowsAt?: readonly string[];
  /** True if it forks a source, which others may act on. */
  readonly forks?: boolean;
  /** Creates sandboxes and other resources, bypassing the proxy. */
  prepare(world: World, options: RunOptions): Promise<Prepared>;
}
