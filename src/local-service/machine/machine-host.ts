/**
 * The machines of the local service: a directory for each disk, a process group for each command. Knows directories
 * and processes; knows no sandbox state, no database and no HTTP.
 */
import type { Readable } from 'node:stream';
import type { IsolationDescription } from './isolation/choose-isolation.js';
import type { LimitsDescription } from './limits/sandbox-limits.js';
import type { InteractiveShell, ShellSpec } from './shell/interactive-shell.js';

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
  /** Reported with the processes that the command starts. */
  readonly commandId?: string;
}

export interface CommandOutcome {
  /** Null when a signal, an abort or the time limit ended it. Bubblewrap reports a signal as a shell does: 128 and its number. */
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
   * Ends the whole process group: SIGTERM, then SIGKILL after two seconds. The run then resolves with the output so far and
   * `exitCode` null. An aborted signal starts nothing.
   */
  readonly signal?: AbortSignal;
}

type DownloadSource = { readonly sandboxId: string } | { readonly snapshotId: string };

/**
 * The caller reads or destroys the stream. It fails, and never just ends, if not all of it could be read.
 * A file is sent as it is, `sizeBytes` of it; a folder as a gzipped tar whose names begin at that folder.
 */
export type Download =
  | { readonly kind: 'file'; readonly sizeBytes: number; readonly stream: Readable }
  | { readonly kind: 'folder'; readonly stream: Readable };

export interface TreeEntry {
  /** Relative to the home. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** Bytes of a file, or of what a link says; 0 for a folder. */
  readonly size: number;
  /** ISO 8601, UTC. */
  readonly modifiedAt: string;
}

export interface SandboxProcess {
  /** As the machine numbers it, not as the sandbox does. */
  readonly pid: number;
  /** The program and its arguments, with spaces between: the first 2,000 characters. */
  readonly command: string;
  /** 0 if the parent is no process of the sandbox. */
  readonly parentPid: number;
  readonly user: 'sandbox';
  /** CPU time over lifetime; 100 is one core. */
  readonly cpuPercent: number;
  /** What of it is in memory, in MiB. */
  readonly memoryMB: number;
  /** ISO 8601, UTC, by the clock of the machine, which no test moves. */
  readonly startedAt: string;
  /** How long it has lived, in milliseconds: for a service whose clock is not that of the machine. */
  readonly ageMs: number;
  /** Of the command that started it; null if that is not known. */
  readonly commandId: string | null;
}

export interface ProcessSample {
  /** At most 500, the busiest first. */
  readonly processes: readonly SandboxProcess[];
  /** How many there are. */
  readonly total: number;
}

export interface MachineDescription extends IsolationDescription {
  readonly limits: LimitsDescription;
}

export interface MachineHost {
  /** How its sandboxes are isolated, what they can reach, and what limits them. */
  readonly description: MachineDescription;
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
   * on: end them first if the copy must be of one moment.
   * @throws MachineError `no_disk`, `copy_failed`
   */
  takeSnapshot(sandboxId: string, snapshotId: string): Promise<{ readonly sizeBytes: number }>;
  /**
   * Copies all disks and snapshots into a folder, which it makes. Processes run on, as with a snapshot; nobody may add or remove
   * a disk meanwhile.
   * @throws MachineError `copy_failed`
   */
  copyAll(target: string): Promise<void>;
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
   * Starts an interactive shell, with a terminal if requested. It ends with the sandbox's processes. What it leaves in the
   * background is treated as with `run`. Not safe to repeat.
   * @throws MachineError as `run`
   */
  openShell(sandboxId: string, spec: ShellSpec): Promise<InteractiveShell>;
  /**
   * Reads a file by a path relative to the home, or absolute below `/home/sandbox`. Links are followed inside the disk only.
   * @throws MachineError `not_found` if there is no such file, `outside` if the path leaves the disk,
   *   `too_large` past `maxBytes`, `not_a_file`, `no_access`, `no_disk`
   */
  readFile(sandboxId: string, path: string, maxBytes: number): Promise<Buffer>;
  /**
   * Makes the folders on the way. Errors as `readFile`. Safe to repeat.
   * @param options.mode permissions of the file, such as 0o600; by default those of a file that is there are kept
   */
  writeFile(sandboxId: string, path: string, content: Buffer, options?: { readonly mode?: number }): Promise<void>;
  /**
   * Removes the file that a read of the same path would read; a path with nothing there changes nothing. Safe to repeat.
   * @throws MachineError `outside`, `not_a_file`, `no_access`, `no_disk`
   */
  removeFile(sandboxId: string, path: string): Promise<void>;
  /**
   * Opens a file or a folder of a disk or of a snapshot to be sent; all of it where `path` is empty or left out. Paths as in
   * `readFile`. Links inside a folder are sent as links. Takes little memory, however much is sent. Safe to repeat.
   * @param options.signal ends it: the stream fails, and the program behind it is ended
   * @throws MachineError `not_found`, `outside`, `not_a_file` for a device, pipe or socket, `no_access`, `no_disk`,
   *   `no_snapshot`, `closed`; the stream fails with `download_failed`, `closed` or the AbortError
   */
  download(
    source: DownloadSource,
    path?: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Download>;
  /**
   * All that is below a folder of a snapshot, sorted by path; of all of it where `path` is empty or left out. Links are not
   * followed; devices, pipes and sockets are left out. Safe to repeat.
   * @throws MachineError `too_large` past 100,000 entries, `not_a_folder`, and as `download`
   */
  tree(snapshotId: string, path?: string): Promise<readonly TreeEntry[]>;
  /**
   * What runs in a sandbox now: what its commands started, but not what the host needs to start them. Safe to repeat.
   * @throws MachineError `no_disk`
   */
  processes(sandboxId: string): Promise<ProcessSample>;
  /** Ends what an earlier service that was killed has left behind. Called once before anything else. */
  recover(): Promise<void>;
  /** Ends every process that it started; runs resolve, and new ones are refused. Safe to repeat. */
  close(): Promise<void>;
}
