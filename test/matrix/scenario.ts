/** What is run with each fault at each of its calls. */
import type { SandboxRecord } from '../../src/local-service/store/sandbox-record.js';
import type { JobResult } from '../../workflows/index.js';
import type { Lens } from './fault-proxy.js';
import type { Tag } from './tagged-client.js';
import type { World } from './world.js';

export interface RunOptions {
  /** Unique, of a-z0-9 and dashes. */
  readonly id: string;
  /** The deadline of the whole, in ms. */
  readonly deadlineMs: number;
  readonly taskQueue: string;
  /** A source of its own, for what others do to it. Default: the world's, which all share. */
  readonly sourceId?: string;
}

/** How a run ended. */
export interface Ended {
  readonly outcome: string;
  /** Results of jobs: of the one, or of all items. */
  readonly jobs: readonly JobResult[];
  /** Ids and names that the result names as left, in whatever form. */
  readonly left: readonly string[];
  /** Sandboxes of which the result says that they are archived, or deleted. */
  readonly saysArchived: readonly string[];
  readonly saysDeleted: readonly string[];
}

export interface Prepared {
  readonly workflowId: string;
  readonly isOf: (tag: Tag) => boolean;
  /** A sandbox that the run made, or was given to work in. */
  readonly owns: (sandbox: SandboxRecord) => boolean;
  /** Sandboxes that were there before the run. */
  readonly given: readonly string[];
  /** What it forks, where that is its own. Default: the world's source. */
  readonly sourceId?: string | undefined;
  /** Prompts of somebody else, in those. They are left alone. */
  readonly othersPromptIds?: readonly string[];
  /** Runs it to its end. @throws where a workflow fails */
  run(): Promise<Ended>;
}

export interface Scenario {
  readonly name: string;
  readonly workflow: 'createThenPrompt' | 'forkFanout' | 'stopAndAwaitArchive' | 'retentionCleanup';
  /** The outcome without any fault. */
  readonly expected: string;
  /** True where sandboxes may stay usable when all went well. */
  readonly keeps?: boolean;
  /** Sandboxes that it makes when all goes well. */
  readonly makes: number;
  /** Faults that are there in every run, by site: they lead to calls that are made in trouble only. */
  readonly always?: Readonly<Record<string, string>>;
  /** What the service answers otherwise in every run. */
  readonly lens?: Lens;
  /** The only sites that have rows, where others have those of another scenario. Default: all. */
  readonly rowsAt?: readonly string[];
  /** True where it forks a source, which others may do something to. */
  readonly forks?: boolean;
  /** Sandboxes and the like, made past the proxy. */
  prepare(world: World, options: RunOptions): Promise<Prepared>;
}
