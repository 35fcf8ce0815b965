/** The supervisor keeps the stack of one SANDFLOW_HOME up for as long as the stack is needed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { anySignal } from '../os/any-signal.js';
import { type FileLock, tryAcquireFileLock } from '../os/file-lock.js';
import { prepareTrustedFolder } from '../os/trusted-folder.js';
import { connectTemporal } from '../temporal/connect.js';
import { readAssumed } from './assumed.js';
import { askSupervisor } from './control-client.js';
import { type StackDescription, settingsDigest } from './control-protocol.js';
import { type ControlServer, openControlServer } from './control-server.js';
import { stackPaths } from './stack-paths.js';
import { readStackRecord, type StackRecord } from './stack-record.js';
import { requireStackSettings } from './stack-settings.js';
import { createStackWatch, type StackWatch } from './stack-watch.js';
import { type Stack, type StartStackOptions, startStack } from './start-stack.js';

/** An earlier supervisor that drains its worker needs up to this long. */
const electionPatienceMs = 60_000;
const electionPollMs = 100;

interface RunSupervisorOptions extends Pick<StartStackOptions, 'main' | 'localProgram'> {
  /** True for `sandflow up --foreground`: stays up even if it is idle. */
  readonly foreground: boolean;
  /** A line for the log, without a line end. */
  readonly log: (line: string) => void;
  /** Aborted by SIGTERM or Ctrl-C: ends the stack in order. */
  readonly signal: AbortSignal;
  readonly onReady?: (stack: StackDescription) => void;
}

/**
 * Runs the supervisor until it is idle or gets a signal, then ends everything that it started. A home has one
 * supervisor. If another one holds the stack, returns `already_running`; clients join that supervisor.
 * @throws SandflowError `bad_configuration`, `home_not_writable`, `home_not_trusted`; `supervisor_unresponsive` if the
 *   holder of the lock does not answer; or the error of the part of the stack that could not start
 */
export async function runSupervisor(
  given: Config,
  options: RunSupervisorOptions,
): Promise<'ended' | 'already_running'> {
  const { home } = given;
  requireStackSettings(given);
  await prepareTrustedFolder({ path: home, setting: 'SANDFLOW_HOME' });
  const paths = stackPaths(home);
  const lock = await elect(paths.lockFile, paths.stateFile, options.signal);
  if (lock === 'told_to_end') return 'ended';
  if (lock === 'held') return 'already_running';
  try {
    const { foreground } = options;
    const { recordFile } = paths;
    const earlier = await readStackRecord(recordFile);
    const config = { ...given, assumed: given.assumed ?? (await assumedBefore(given, earlier)) };
    const watch = createStackWatch(config, { foreground, clients: () => control.clients(), recordFile, earlier });
    const control = await openControlServer(paths.stateFile, {
      settings: settingsDigest(config),
      answer: watch.answer,
    });
    try {
      await holdStack(config, control, watch, options);
    } finally {
      await control.close();
    }
    return 'ended';
  } finally {
    lock.release();
  }
}

/** What the stack that died played. @throws SandflowError `bad_usage` if its record is gone */
async function assumedBefore({ sandboxService }: Config, earlier: StackRecord | undefined): Promise<Config['assumed']> {
  if (!earlier?.assumed || sandboxService) return undefined;
  return readAssumed(earlier.assumed, ' The stack before played it: `sandflow down` forgets it.');
}

async function holdStack(
  config: Config,
  control: ControlServer,
  watch: StackWatch,
  options: RunSupervisorOptions,
): Promise<void> {
  const { log, main, localProgram } = options;
  const signal = anySignal([options.signal, watch.ended]);
  const onProgress = (line: string) => {
    log(line);
    control.progress(line);
  };
  let stack: Stack;
  try {
    stack = await startStack(config, { main, localProgram, onProgress, log, signal, onLateBridge: control.ready });
  } catch (error) {
    if (signal.aborted) return;
    const code = error instanceof SandflowError ? error.code : 'stack_failed';
    control.failed(code, error instanceof Error ? error.message : String(error));
    throw error;
  }
  try {
    const { temporalAddress: address, namespace } = stack.description;
    const temporal = await connectTemporal(
      config.temporal.configured ? config.temporal.connect : { address, namespace },
    );
    try {
      watch.ready(stack, temporal);
      control.ready(stack.description);
      options.onReady?.(stack.description);
      log('the stack is ready');
      await watch.untilIdle(signal);
    } finally {
      await temporal.connection.close();
    }
    // From now on no client can join this stack. A new client waits for the lock and gets a new stack.
    await control.close();
    await watch.close();
    log(signal.aborted ? 'stopping as requested' : 'stopping: nothing left to do');
  } finally {
    await stack.stop();
    log('the stack has stopped');
  }
}

/** @returns the lock, or `held` if a supervisor has a stack. Waits for a supervisor that is ending. */
async function elect(
  lockFile: string,
  stateFile: string,
  signal: AbortSignal,
): Promise<FileLock | 'held' | 'told_to_end'> {
  const giveUpAt = Date.now() + electionPatienceMs;
  for (;;) {
    const lock = tryAcquireFileLock(lockFile);
    if (lock) return lock;
    if (await askSupervisor(stateFile, 'status')) return 'held';
    if (signal.aborted) return 'told_to_end';
    if (Date.now() > giveUpAt) {
      const message = `The supervisor that holds ${lockFile} does not answer. Find its process ("supervisor" is in its command line) and stop it.`;
      throw new SandflowError('supervisor_unresponsive', message);
    }
    await sleep(electionPollMs, undefined, { signal }).catch(() => undefined);
  }
}
