/**
 * The machines of the local service: a directory for each disk, a process group for each command. Knows directories
 * and processes; knows no sandbox state, no database and no HTTP.
 */

export interface CommandSpec {
  /** Run by `/bin/sh -c`; at most 120 KiB. */
  readonly command: string;
  /** Inside the sandbox, relative to its home, which is the default. One that cannot be entered ends the command with 126. */
  readonly cwd?: string;
  /** Added to PATH, HOME, LANG, TERM, USER and SANDBOX_ID. Nothing of the service's own environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Empty by default. */
  readonly stdin?: string;
  /** No limit by default. */
  readonly timeoutMs?: number;
}

export interface CommandOutcome {
  /** Null when a signal, an abort or the time limit ended it. Bubblewrap tells a signal as a shell does: 128 and its number. */
  readonly exitCode: number | null;
  /** The first 8 MiB, and a line that says how much was left out. So too `stderr`. */
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  readonly timedOut: boolean;
}

export interface CommandWatch {
  /** Gets everything, without a limit, and no character in two pieces. */
  readonly onStdout?: (chunk: string) => void;
  readonly onStderr?: (chunk: string) => void;
  /**
   * Ends the whole process group: asks, and after two seconds kills. The run then resolves, with what was printed until then
   * and `exitCode` null; after an abort nothing is started.
   */
  readonly signal?: AbortSignal;
}

export interface MachineHost {
  /** `bubblewrap` where the machine has it and it works; otherwise `plain`, which isolates nothing. */
  readonly isolation: 'bubblewrap' | 'plain';
  /** Makes an empty disk. Repeating it changes nothing. */
  createDisk(sandboxId: string): Promise<void>;
  /**
   * Ends the processes and makes the disk anew from a snapshot, at once or not at all. Repeating it ends in the same disk.
   * @throws MachineError `no_snapshot`, `copy_failed`
   */
  restoreDisk(sandboxId: string, snapshotId: string): Promise<void>;
  /** Ends all processes of the sandbox and waits until they are gone. */
  endProcesses(sandboxId: string): Promise<void>;
  /**
   * Copies the disk; atomic, a crash leaves no half snapshot under the id. Repeating it replaces the snapshot. Processes run
   * on: end them first where the copy must be of one moment.
   * @throws MachineError `no_disk`, `copy_failed`
   */
  takeSnapshot(sandboxId: string, snapshotId: string): Promise<{ readonly sizeBytes: number }>;
  /** Repeating it changes nothing. */
  deleteSnapshot(snapshotId: string): Promise<void>;
  /** Ends the processes and removes the disk. Repeating it changes nothing. */
  deleteDisk(sandboxId: string): Promise<void>;
  /**
   * Resolves when the shell has ended. What it leaves in the background ends with it in bubblewrap, where each command has a
   * process namespace of its own; without isolation it lives on until `endProcesses`. Not safe to repeat.
   * @throws MachineError `no_disk`, `bad_command`, `closed`, `processes_remain`
   */
  run(sandboxId: string, spec: CommandSpec, watch?: CommandWatch): Promise<CommandOutcome>;
  /**
   * Reads a file by a path relative to the home, or absolute below `/home/sandbox`. Links are followed inside the disk only.
   * @throws MachineError `not_found` where there is no such file, `outside` where the path leaves the disk,
   *   `too_large` past `maxBytes`, `not_a_file`, `no_access`, `no_disk`
   */
  readFile(sandboxId: string, path: string, maxBytes: number): Promise<Buffer>;
  /** Makes the folders on the way, and keeps the mode of a file that is there. Errors as `readFile`. Safe to repeat. */
  writeFile(sandboxId: string, path: string, content: Buffer): Promise<void>;
  /** Ends what an earlier service that was killed has left behind. Called once before anything else. */
  recover(): Promise<void>;
  /** Ends every process that it started; runs resolve, and new ones are refused. Safe to repeat. */
  close(): Promise<void>;
}
