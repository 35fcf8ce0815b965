/**
 * What the bench asks of each peer, a way to do the same job on the same service.
 *
 * To compare a further engine, such as BullMQ, DBOS or Restate, write one file in `systems/` that exports a `Peer`, and
 * add it to `systems/all.ts`.
 */
import type { Child } from '../processes/child.js';

/** What all peers of a run share. */
export interface Workshop {
  readonly directory: string;
  readonly temporalBinary: string;
  readonly bundlePaths: { readonly sandflow: string; readonly encrypted: string; readonly plain: string };
}

/** Who hears what has been measured. Results come one by one, so that a failure loses none. */
export interface Listeners<Result> {
  readonly onProgress: (line: string) => void;
  readonly onResult: (result: Result) => void;
}

/** Where one peer runs in one round. */
export interface Place {
  readonly workshop: Workshop;
  /** A folder of its own. */
  readonly directory: string;
  readonly serviceUrl: string;
  /** The calls with this key count. */
  readonly apiKey: string;
  /** True if the engine keeps its state in a file. */
  readonly inFile: boolean;
}

export interface Peer {
  readonly name: string;
  start(place: Place): Promise<RunningPeer>;
}

export interface RunningPeer {
  /** Starts a job and resolves when it has ended. The name occurs in the name of its sandbox. */
  runJob(job: string): Promise<void>;
  /** Does the job on forks of a sandbox, with `batchAtOnce` of them at the same time. */
  runBatch(items: number, sourceId: string): Promise<void>;
  enginePid(): number | undefined;
  /** The processes beside the engine whose CPU time counts. */
  app(): readonly Child[];
  /** Ends all processes of the app, and starts them again. */
  restartApp(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Kills the engine and starts it again, if there is one. */
  restartEngine?(): Promise<void>;
  /** The events of each job, if the engine has histories. */
  histories?(jobs: readonly string[]): Promise<readonly (readonly JobEvent[])[]>;
  /** The number of events of all workflows that began after a moment. */
  eventsSince?(moment: Date): Promise<number>;
  close(): Promise<void>;
}

export const batchAtOnce = 50;

/** An event in the history of a job. */
export interface JobEvent {
  /** In the words of Temporal, such as `workflowTaskStarted`. */
  readonly type: string;
  /** Of the activity that is scheduled, or of the signal. */
  readonly name?: string;
  /** In ms since the epoch. */
  readonly atMs: number;
}

/** Runs `end`s in reverse order, once. */
export function createClosing() {
  const open: (() => Promise<unknown>)[] = [];
  let closed: Promise<void> | undefined;
  const closeAll = async () => {
    for (const end of open.reverse()) await end();
  };
  return {
    add: (end: () => Promise<unknown>) => void open.push(end),
    close(): Promise<void> {
      closed ??= closeAll();
      return closed;
    },
  };
}
