/**
 * The machines of the local service. Each disk is a directory; each command is a session of processes. The host knows
 * directories and processes, but no sandbox state, no database and no HTTP.
 */
import type { Socket } from 'node:net';
import type { RunningDesktop } from './desktop/desktops.js';
import type { DesktopSupport } from './desktop/find-desktop.js';
import type { RepositorySource } from './disk/clone-repository.js';
import type { Download } from './disk/download.js';
import type { WriteOptions } from './disk/files.js';
import type { Restore } from './disk/restores.js';
import type { TreeEntry } from './disk/snapshot-tree.js';
import type { IsolationDescription } from './isolation/choose-isolation.js';
import type { CommandSpec } from './isolation/launch.js';
import type { LimitsDescription } from './limits/sandbox-limits.js';
import type { ProcessSample } from './processes/list.js';
import type { InteractiveShell, ShellSpec } from './shell/interactive-shell.js';
import type { CommandOutcome, CommandWatch } from './shell/run-command.js';

type DownloadSource = { readonly sandboxId: string } | { readonly snapshotId: string };

export interface MachineDescription extends IsolationDescription {
  readonly limits: LimitsDescription;
}

export interface MachineHost {
  /** Whether sandboxes can have a desktop. */
  readonly desktop: DesktopSupport;
  /** How the sandboxes are isolated, what they can reach, and which limits they have. */
  readonly description: MachineDescription;
  /** Creates an empty disk. Repeating it changes nothing. */
  createDisk(sandboxId: string): Promise<void>;
  /**
   * Removes the disk as `deleteDisk` does, and begins to copy a snapshot in its place. Until the copy has ended,
   * `readFile`, `download` and `processes` do not wait for it: they read the snapshot. Every other call for the disk
   * waits. A crash leaves the whole disk or none. Safe to repeat: the last call counts.
   * @throws MachineError `no_snapshot`
   */
  restoreDisk(sandboxId: string, snapshotId: string): Promise<Restore>;
  /**
   * Begins the copy of `restoreDisk` again, unless it runs or the disk exists. Safe to repeat.
   * @throws MachineError `no_snapshot`
   */
  continueRestore(sandboxId: string, snapshotId: string): Promise<Restore>;
  /**
   * Ends the copy to the disk of a sandbox, or all copies, without waiting for the rest of them. Calls that wait for
   * the disk fail with `ended`. A disk that was not complete does not exist. Safe to repeat.
   */
  endRestore(sandboxId?: string): Promise<void>;
  /**
   * Ends all processes of the sandbox and waits until they are gone. Calls that wait for the copy of its disk fail with
   * `ended`; the copy goes on.
   */
  endProcesses(sandboxId: string): Promise<void>;
  /**
   * Copies the disk. The copy is atomic: a crash leaves no incomplete snapshot under the id. Repeating it replaces the
   * snapshot. Processes run on; end them first if the copy must show a single moment.
   * @throws MachineError `no_disk`, `copy_failed`
   */
  takeSnapshot(sandboxId: string, snapshotId: string): Promise<{ readonly sizeBytes: number }>;
  /**
   * Creates a snapshot that holds these files, given by their paths, without a disk. It is atomic as that of
   * `takeSnapshot`. Repeating it replaces the snapshot.
   * @throws MachineError as `writeFile`
   */
  createSnapshot(snapshotId: string, files: ReadonlyMap<string, Buffer>): Promise<{ readonly sizeBytes: number }>;
  /**
   * True if two snapshots hold the same names, with the same types, modes, sizes, times of files and targets of links.
   * @throws MachineError `no_snapshot`
   */
  isSameSnapshot(snapshotId: string, otherId: string): Promise<boolean>;
  /** Waits until no disk is copied from the snapshot any more. Repeating it changes nothing. */
  deleteSnapshot(snapshotId: string): Promise<void>;
  /** Ends the processes and the copy of `restoreDisk`, and removes the disk. Repeating it changes nothing. */
  deleteDisk(sandboxId: string): Promise<void>;
  /**
   * Runs a command and resolves when its shell has ended. Its background processes live on until `endProcesses`. Not
   * safe to repeat.
   * @throws MachineError `no_disk`, `bad_command`, `ended`, `closed`, `processes_remain`, `isolation_unavailable`
   */
  run(sandboxId: string, spec: CommandSpec, watch?: CommandWatch): Promise<CommandOutcome>;
  /**
   * Starts an interactive shell, with a terminal if requested. The shell ends with the sandbox's processes. Its
   * background processes are treated as with `run`. Not safe to repeat.
   * @throws MachineError as `run`
   */
  openShell(sandboxId: string, spec: ShellSpec): Promise<InteractiveShell>;
  /**
   * Connects to a server inside the sandbox that listens at 127.0.0.1 or ::1, or at all addresses. Without a network of
   * its own, a sandbox has the ports of this machine.
   * @throws MachineError `not_listening`, `no_disk`
   */
  connect(sandboxId: string, port: number): Promise<Socket>;
  /**
   * Starts the desktop of a sandbox, unless it runs. From then on, commands and shells have `DISPLAY`. Its VNC server
   * listens at `vncPort`. Safe to repeat.
   * @param isPublic whether it is shown without a token, asked at each use. Left out: this stays as it is, at first false
   * @throws MachineError `no_desktop` with the reason, and the errors of `run`
   */
  openDesktop(sandboxId: string, isPublic?: () => boolean): Promise<void>;
  /** Undefined while the desktop does not run. */
  desktopOf(sandboxId: string): RunningDesktop | undefined;
  /**
   * Reads a file. The path is relative to the home, or absolute below `/home/sandbox`. Links are followed only inside
   * the disk.
   * @throws MachineError `not_found` if there is no such file, `outside` if the path leaves the disk,
   *   `too_large` past `maxBytes`, `not_a_file`, `no_access`, `no_disk`
   */
  readFile(sandboxId: string, path: string, maxBytes: number): Promise<Buffer>;
  /**
   * Writes a file and creates missing folders in its path. Throws the same errors as `readFile`. Safe to repeat.
   */
  writeFile(sandboxId: string, path: string, content: Buffer, options?: WriteOptions): Promise<void>;
  /**
   * Removes the file at a path. Does nothing if there is no file, or if the path contains a link. Safe to repeat.
   * @throws MachineError `outside`, `not_a_file`, `no_access`, `no_disk`
   */
  removeFile(sandboxId: string, path: string): Promise<void>;
  /**
   * Clones a repository into a folder of the home, with the `git` of this machine, and with the logins of the user who
   * runs the service only if `asUser`. No file is checked out: what a repository says about that is run inside the sandbox only. Replaces the folder. Safe to
   * repeat.
   * @throws MachineError `clone_failed` with the reason of git, `no_disk`
   */
  cloneRepository(sandboxId: string, source: RepositorySource, signal?: AbortSignal): Promise<void>;
  /**
   * Opens a file or a folder of a disk or of a snapshot for sending. If `path` is empty or left out, everything is
   * sent. Paths are resolved as in `readFile`. Links inside a folder are sent as links. Takes little memory, even for
   * large files. Safe to repeat.
   * @throws MachineError `not_found`, `outside`, `not_a_file` for a device, pipe or socket, `no_access`, `no_disk`,
   *   `no_snapshot`, `closed`; the stream fails with `download_failed` or `closed`
   */
  download(source: DownloadSource, path?: string): Promise<Download>;
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
