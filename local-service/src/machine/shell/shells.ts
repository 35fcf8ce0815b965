/** The shells of sandboxes: what a command, an agent and an SSH session have in common. */
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { CommandSpec } from '../isolation/launch.js';
import type { LimitsDescription } from '../limits/sandbox-limits.js';
import type { ProcessSample } from '../processes/list.js';

export interface ShellExit {
  /** Null if a signal ended the shell. In bubblewrap and in a terminal, a signal is reported as 128 plus its number. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartedShell {
  readonly stdin: Writable;
  /** Read both streams: an unread pipe blocks the shell. They end when no process holds them open any more. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the shell itself has ended. */
  readonly exited: Promise<ShellExit>;
  /** Resolves when the shell has ended and no process holds its output open any more. */
  readonly closed: Promise<void>;
  /**
   * Ends the processes of the shell and waits until they are gone: SIGTERM, then SIGKILL after two seconds. Safe to
   * repeat.
   * @throws MachineError `processes_remain`
   */
  end(): Promise<void>;
  /** True as soon as its end was requested, even if its processes have not ended yet. */
  wasEnded(): boolean;
  /** Call it when the shell has ended. */
  settle(): void;
}

export interface Shells {
  readonly limits: LimitsDescription;
  /** Limits that this machine does not support, as text for people. */
  readonly lacks: readonly string[];
  /**
   * Starts a shell in the sandbox. Not safe to repeat.
   * @throws MachineError `bad_command`, `closed`, and without a network, limits or a machine `network_unavailable`,
   *   `limits_unavailable`, `isolation_unavailable`
   */
  start(sandboxId: string, spec: CommandSpec): Promise<StartedShell>;
  /**
   * Connects to a port inside the sandbox, without starting it.
   * @throws MachineError `not_listening`
   */
  connect(sandboxId: string, port: number): Promise<Socket>;
  /** The processes of a sandbox, without those that the host itself needs. */
  list(sandboxId: string): Promise<ProcessSample>;
  /** Ends all processes of one sandbox, or of all, and waits until they are gone. Safe to repeat. */
  endAll(sandboxId?: string): Promise<void>;
  /** Ends the processes that a killed earlier service left behind. */
  recover(): Promise<void>;
}
