/**
 * The machines of the local service. Each disk is a directory; each command is a process group. The host knows
 * directories and processes, but no sandbox state, no database and no HTTP.
 */
import type { Readable } from 'node:stream';
import type { IsolationDescription } from './isolation/choose-isolation.js';
import type { LimitsDescription } from './limits/sandbox-limits.js';
import type { InteractiveShell, ShellSpec } from './shell/interactive-shell.js';

export interface CommandSpec {
  /** Run by `/bin/sh -c`; at most 120 KiB. */
  readonly command: string;
  /**
   * A path inside the sandbox, relative to its home, which is the default. If the command cannot enter the folder, it
   * ends with exit code 126.
   */
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
  /**
   * Null if a signal, an abort or the time limit ended the command. Bubblewrap reports a signal as shells do: 128 plus
   * its number.
   */
  readonly exitCode: number | null;
  /** The first 8 MiB; if there was more, a last line says how much was left out. */
  readonly stdout: string;
  /** Bounded like `stdout`. */
  readonly stderr: string;
  readonly durationMs: number;
  readonly timedOut: boolean;
}

export interface CommandWatch {
  /** Gets all output, without a limit. No character is split between two chunks. */
  readonly onStdout?: (chunk: string) => void;
  readonly onStderr?: (chunk: string) => void;
  /**
   * On abort, the whole process group is ended: SIGTERM, then SIGKILL after two seconds. The run then resolves with the
   * output so far and `exitCode` null. If the signal is already aborted, nothing is started.
   */
  readonly signal?: AbortSignal;
}

type DownloadSource = { readonly sandboxId: string } | { readonly snapshotId: string };

/**
 * The caller must read or destroy the stream. If the source could not be read completely, the stream fails; it never
 * just ends. A file is sent as it is, with exactly `sizeBytes` bytes. A folder is sent as a gzipped tar, with names
 * relative to it.
 */
export type Download =
  | { readonly kind: 'file'; readonly sizeBytes: number; readonly stream: Readable }
  | { readonly kind: 'folder'; readonly stream: Readable };

export interface TreeEntry {
  /** Relative to the home. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** The bytes of a file, or of the target path of a link; 0 for a folder. */
  readonly size: number;
  /** ISO 8601, UTC. */
  readonly modifiedAt: string;
}

export interface SandboxProcess {
  /** The pid on the machine, which differs from the pid inside the sandbox. */
  readonly pid: number;
  /** The first 2,000 characters of the program and its arguments, separated by spaces. */
  readonly command: string;
  /** 0 if the parent is not a process of the sandbox. */
  readonly parentPid: number;
  readonly user: 'sandbox';
  /** The CPU time divided by the lifetime; 100 is one core. */
  readonly cpuPercent: number;
  /** Resident memory, in MiB. */
  readonly memoryMB: number;
  /** ISO 8601, UTC, by the clock of the machine, which tests do not move. */
  readonly startedAt: string;
  /** The age of the process, in milliseconds, for a service whose clock differs from that of the machine. */
  readonly ageMs: number;
  /** The id of the command that started the process; null if unknown. */
  readonly commandId: string | null;
}

export interface ProcessSample {
  /** At most 500, the busiest first. */
  readonly processes: readonly SandboxProcess[];
  /** The number of all processes, including those that `processes` leaves out. */
  readonly total: number;
}

export interface MachineDescription extends IsolationDescription {
  readonly limits: LimitsDescription;
}

export interface MachineHost {
  /** How the sandboxes are isolated, what they can reach, and which limits they have. */
  readonly description: MachineDescription;
  /** Creates an empty disk. Repeating it changes nothing. */
  createDisk(sandboxId: string): Promise<void>;
  /**
   * Ends the processes and replaces the disk with a copy of a snapshot, at once or not at all. Safe to repeat.
   * @throws MachineError `no_snapshot`, `copy_failed`
   */
  restoreDisk(sandboxId: string, snapshotId: string): Promise<void>;
  /** Ends all processes of the sandbox and waits until they are gone. */
  endProcesses(sandboxId: string): Promise<void>;
  /**
   * Copies the disk. The copy is atomic: a crash leaves no incomplete snapshot under the id. Repeating it replaces the
   * snapshot. Processes run on; end them first if the copy must show a single moment.
   * @throws MachineError `no_disk`, `copy_failed`
   */
  takeSnapshot(sandboxId: string, snapshotId: string): Promise<{ readonly sizeBytes: number }>;
  /**
   * Creates a folder and copies all disks and snapshots into it. Processes run on, as with `takeSnapshot`. Nobody may
   * add or remove a disk meanwhile.
   * @throws MachineError `copy_failed`
   */
  copyAll(target: string): Promise<void>;
  /** Repeating it changes nothing. */
  deleteSnapshot(snapshotId: string): Promise<void>;
  /** Ends the processes and removes the disk. Repeating it changes nothing. */
  deleteDisk(sandboxId: string): Promise<void>;
  /**
   * Runs a command and resolves when its shell has ended. In bubblewrap, each command has its own process namespace, so
   * its background processes end with it. Without isolation, they live on until `endProcesses`. Not safe to repeat.
   * @throws MachineError `no_disk`, `bad_command`, `closed`, `processes_remain`
   */
  run(sandboxId: string, spec: CommandSpec, watch?: CommandWatch): Promise<CommandOutcome>;
  /**
   * Starts an interactive shell, with a terminal if requested. The shell ends with the sandbox's processes. Its
   * background processes are treated as with `run`. Not safe to repeat.
   * @throws MachineError as `run`
   */
  openShell(sandboxId: string, spec: ShellSpec): Promise<InteractiveShell>;
  /**
   * Reads a file. The path is relative to the home, or absolute below `/home/sandbox`. Links are followed only inside
   * the disk.
   * @throws MachineError `not_found` if there is no such file, `outside` if the path leaves the disk,
   *   `too_large` past `maxBytes`, `not_a_file`, `no_access`, `no_disk`
   */
  readFile(sandboxId: string, path: string, maxBytes: number): Promise<Buffer>;
  /**
   * Writes a file and creates missing folders in its path. Throws the same errors as `readFile`. Safe to repeat.
   * @param options.mode permissions of the file, such as 0o600; by default an existing file keeps its permissions
   */
  writeFile(sandboxId: string, path: string, content: Buffer, options?: { readonly mode?: number }): Promise<void>;
  /**
   * Removes the file that `readFile` would read at the same path. Does nothing if there is no file. Safe to repeat.
   * @throws MachineError `outside`, `not_a_file`, `no_access`, `no_disk`
   */
  removeFile(sandboxId: string, path: string): Promise<void>;
  /**
   * Opens a file or a folder of a disk or of a snapshot for sending. If `path` is empty or left out, everything is
   * sent. Paths are resolved as in `readFile`. Links inside a folder are sent as links. Takes little memory, whatever
   * the size. Safe to repeat.
   * @param options.signal on abort, the stream fails, and the program that feeds it is ended
   * @throws MachineError `not_found`, `outside`, `not_a_file` for a device, pipe or socket, `no_access`, `no_disk`,
   *   `no_snapshot`, `closed`; the stream fails with `download_failed`, `closed` or the AbortError
   */
  download(
    source: DownloadSource,
    path?: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Download>;
  /**
   * Lists everything below a folder of a snapshot, sorted by path. If `path` is empty or left out, the whole snapshot
   * is listed. Links are not followed. Devices, pipes and sockets are left out. Safe to repeat.
   * @throws MachineError `too_large` past 100,000 entries, `not_a_folder`, and the errors of `download`
   */
  tree(snapshotId: string, path?: string): Promise<readonly TreeEntry[]>;
  /**
   * The processes that run in a sandbox now, without those that the host itself needs to run a command. Safe to repeat.
   * @throws MachineError `no_disk`
   */
  processes(sandboxId: string): Promise<ProcessSample>;
  /** Ends the processes that a killed earlier service left behind. Call it once, before anything else. */
  recover(): Promise<void>;
  /** Ends every process that the host started. Open runs resolve, and new runs are refused. Safe to repeat. */
  close(): Promise<void>;
}
