/** Gives a client a running stack: joins the existing one, or starts one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, requestForm } from '../config.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { apiKeyOf } from '../os/key-file.js';
import { makeFoldersSync } from '../os/make-folders.js';
import { prepareTrustedFolder } from '../os/trusted-folder.js';
import { type MainProgram, supervisorCommand } from './children.js';
import { askSupervisor, joinSupervisor, type Presence } from './control-client.js';
import { type StackDescription, settingsDigest } from './control-protocol.js';
import { type StackPaths, stackPaths } from './stack-paths.js';
import { endedText, readStackRecord } from './stack-record.js';
import { requireStackSettings } from './stack-settings.js';

const retryMs = 50;
/**
 * Maximum number of supervisors that are started. One may die by accident, but this many die for a reason that a
 * restart does not remove.
 */
const maxSpawns = 4;
const maxLogBytes = 5 * 1024 * 1024;
const tailCharacters = 2000;

export interface EnsureStackOptions {
  readonly onProgress?: (line: string) => void;
  /** How this program is started: the supervisor is its `supervisor` command. */
  readonly main: MainProgram;
  /** The name of this command in `sandflow status`, like `jobs watch`. Default: `sandflow`. */
  readonly command?: string;
  /** Stops waiting. A supervisor that this call has started ends, unless another command waits for it too. */
  readonly signal?: AbortSignal;
}

export interface StackHandle extends StackDescription, Omit<Presence, 'stack'> {
  /** What requests need for a service that plays another one. */
  readonly form: ReturnType<typeof requestForm>;
  readonly sandboxApiKey: string;
  /**
   * Key file of the configured service or, without one, of the local service. Undefined if only the environment has the
   * key.
   */
  readonly sandboxApiKeyFile: string | undefined;
}

/**
 * Joins the supervisor of `config.home`, or starts one in the background, and waits until the stack is ready. The stack
 * stays up at least until the handle is released. The handle is also released when this process ends, even after a
 * crash. Safe to call from many processes at once.
 * @throws SandflowError `bad_configuration`, `home_not_writable`, `home_not_trusted`, `file_not_trusted`,
 *   `stack_differs`, `stack_of_other_version`, `supervisor_failed`, or the error of the part that cannot start
 */
export async function ensureStack(config: Config, options: EnsureStackOptions): Promise<StackHandle> {
  const { onProgress = () => undefined, main, signal } = options;
  requireStackSettings(config);
  await prepareTrustedFolder({ path: config.home, setting: 'SANDFLOW_HOME' });
  const paths = stackPaths(config.home);
  const settings = settingsDigest(config);
  const client = { pid: process.pid, command: options.command ?? 'sandflow' };
  let spawned: ChildProcess | undefined;
  try {
    for (let spawns = 0; ; ) {
      const joined = await joinSupervisor({ stateFile: paths.stateFile, settings, client, onProgress, signal });
      if (typeof joined === 'object') return await handleOf(joined, config, paths);
      if (spawned && hasFailed(spawned)) break;
      signal?.throwIfAborted();
      if (!spawned || hasEnded(spawned)) {
        if (spawns === maxSpawns) break;
        const ended = spawns === 0 ? await readStackRecord(paths.recordFile) : undefined;
        if (ended) onProgress(`${endedText(ended)} It is started again.`);
        spawned = spawnSupervisor(main, config, paths);
        spawns += 1;
      }
      await sleep(retryMs, undefined, { signal });
    }
  } catch (error) {
    if (signal?.aborted && spawned && !hasEnded(spawned)) await endStart(spawned, paths);
    throw error;
  }
  throw new SandflowError(
    'supervisor_failed',
    `The supervisor exited before its stack was ready. Its log is ${paths.supervisorLog}.\n${tailOf(paths.supervisorLog)}`,
  );
}

/**
 * The key file is chosen here. The supervisor's answer must not name it, since the content of the file is sent to a
 * service.
 */
async function handleOf({ stack, lost, release }: Presence, config: Config, paths: StackPaths): Promise<StackHandle> {
  const { sandboxService } = config;
  const sandboxApiKeyFile = sandboxService ? sandboxService.apiKeyFile : paths.localApiKeyFile;
  try {
    const sandboxApiKey = await apiKeyOf(sandboxService ?? { apiKeyFile: paths.localApiKeyFile });
    return { ...stack, sandboxApiKey, sandboxApiKeyFile, form: requestForm(stack.assumed ?? {}), lost, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Starts the supervisor in a session of its own, so that a Ctrl-C in this terminal does not reach it. */
function spawnSupervisor(main: MainProgram, config: Config, paths: StackPaths): ChildProcess {
  makeFoldersSync(paths.logDirectory, { mode: 0o700 });
  const log = paths.supervisorLog;
  if (existsSync(log) && statSync(log).size > maxLogBytes) renameSync(log, `${log}.1`);
  const output = openSync(log, 'a', 0o600);
  try {
    const { command, args } = supervisorCommand(main, config);
    const child = spawn(command, args, { cwd: config.home, detached: true, stdio: ['ignore', output, output] });
    child.on('error', () => undefined);
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

/** Ends the supervisor that was started for a command which was interrupted. It may be downloading a server. */
async function endStart(supervisor: ChildProcess, { stateFile }: StackPaths): Promise<void> {
  const status = await askSupervisor(stateFile, 'status').catch(() => undefined);
  // Nobody has joined a supervisor that does not answer yet.
  if (!status) supervisor.kill('SIGTERM');
  // Another one may hold the stack of this home.
  else if (status.pid === supervisor.pid) await askSupervisor(stateFile, 'end_start').catch(() => undefined);
}

/** True if the process has ended. If it did not fail, a signal ended it, or another supervisor has the stack. */
function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function hasFailed({ exitCode, pid }: ChildProcess): boolean {
  return pid === undefined || (exitCode !== null && exitCode !== 0);
}

function tailOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8').slice(-tailCharacters) : '';
}
