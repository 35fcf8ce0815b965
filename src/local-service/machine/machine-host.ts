/**
 * The machines of the local service: a directory for each disk, a process group for each command. Knows directories
 * and processes; knows no sandbox state, no database and no HTTP.
 */

export interface CommandSpec {
  /** Run by `/bin/sh -c`. */
  readonly command: string;
  /** Inside the sandbox; its home by default. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** No limit by default. */
  readonly timeoutMs?: number;
}

export interface CommandOutcome {
  /** Null when a signal or the time limit ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  readonly timedOut: boolean;
}

export interface CommandWatch {
  readonly onStdout?: (chunk: string) => void;
  readonly onStderr?: (chunk: string) => void;
  /** Ends the whole process group. */
  readonly signal?: AbortSignal;
}

export interface MachineHost {
  /** `bubblewrap` where the machine has it and it works; otherwise `plain`, which isolates nothing. */
  readonly isolation: 'bubblewrap' | 'plain';
  /** Makes an empty disk. Repeating it changes nothing. */
  createDisk(sandboxId: string): Promise<void>;
  /** Makes the disk anew from a snapshot. Repeating it ends in the same disk. */
  restoreDisk(sandboxId: string, snapshotId: string): Promise<void>;
  /** Ends all processes of the sandbox and waits until they are gone. */
  endProcesses(sandboxId: string): Promise<void>;
  /** Copies the disk; atomic, a crash leaves no half snapshot under the id. Repeating it replaces the snapshot. */
  takeSnapshot(sandboxId: string, snapshotId: string): Promise<{ readonly sizeBytes: number }>;
  deleteSnapshot(snapshotId: string): Promise<void>;
  /** Ends the processes and removes the disk. Repeating it changes nothing. */
  deleteDisk(sandboxId: string): Promise<void>;
  run(sandboxId: string, spec: CommandSpec, watch?: CommandWatch): Promise<CommandOutcome>;
  /**
   * @throws MachineError `not_found` where there is no such file, `outside` where the path leaves the sandbox,
   *   `too_large` past `maxBytes`, `not_a_file`
   */
  readFile(sandboxId: string, path: string, maxBytes: number): Promise<Buffer>;
  /** Makes the folders on the way. Errors as `readFile`. */
  writeFile(sandboxId: string, path: string, content: Buffer): Promise<void>;
  /** Ends what an earlier service that was killed has left behind. Called once before anything else. */
  recover(): Promise<void>;
  /** Ends every process that it started. */
  close(): Promise<void>;
}
