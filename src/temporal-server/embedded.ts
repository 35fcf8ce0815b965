/**
 * Runs a Temporal server as a child process. Its state is in memory for tests, and in a file for the embedded stack.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { anySignal } from '../os/any-signal.js';
import { freePort } from '../os/free-port.js';
import { byOwnUser } from '../os/owner.js';
import { openRotatingLog, type RotatingLog } from '../os/rotating-log.js';
import { endChild, exitOf, spawnBoundToParent } from '../os/spawn-bound-to-parent.js';

const startTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;
const attempts = 3;
/** The server prints this if another process has taken the port in the meantime. */
const portTaken = 'address already in use';

export interface EmbeddedServerOptions {
  /** The `temporal` program. */
  readonly binary: string;
  /** Where the server keeps its state. Default: in memory. */
  readonly databaseFile?: string;
  /** Port of the server, if it is free; otherwise any other port is used. Default: any. */
  readonly port?: number;
  /** Port of the web interface, if it is free. 0: any port. False: no web interface. Default: false. */
  readonly uiPort?: number | false;
  /**
   * Loopback address of the web interface, which has no authentication; see `unguessableLoopback`. Default: 127.0.0.1.
   */
  readonly uiHost?: string;
  /** Output of the server, rotated by size. */
  readonly logFile: string;
  /** Default `default`. */
  readonly namespace?: string;
  /** Ends a start that is in progress. */
  readonly signal?: AbortSignal;
}

export type EmbeddedServer = Readonly<Awaited<ReturnType<typeof startEmbeddedServer>>>;

/**
 * Starts a server on the loopback interface and waits until it answers for its namespace. It dies with this process. A
 * port that is in use is not an error; another one is used.
 * @throws SandflowError `temporal_start_failed` with the end of the server's output
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions) {
  const log = openRotatingLog(options.logFile);
  try {
    for (let attempt = 1; ; attempt += 1) {
      const started = await tryStart(options, log);
      if (typeof started !== 'string') return started;
      if (attempt === attempts || started !== 'port_taken') throw startFailed(log);
    }
  } catch (error) {
    log.close();
    throw error;
  }
}

/** @returns `port_taken` or `ended` if the process ended early, for example because another process has taken a port */
async function tryStart(options: EmbeddedServerOptions, log: RotatingLog) {
  const { binary, databaseFile, namespace = 'default', uiPort: wantedUiPort = false, uiHost = '127.0.0.1' } = options;
  const port = await freePort(options.port === undefined ? [] : [options.port]);
  const uiPort = wantedUiPort === false ? undefined : await freePort(wantedUiPort === 0 ? [] : [wantedUiPort], uiHost);
  const child = spawnBoundToParent(binary, serverArguments({ port, uiPort, uiHost, namespace, databaseFile }), {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(databaseFile !== undefined && { cwd: dirname(databaseFile) }),
  });
  // `exit` may come before the end of the output, which says why the process ended.
  const exited = exitOf(child, 'close');
  const stop = (signal: NodeJS.Signals) => endChild(child, exited, { signal, graceMs: stopTimeoutMs });
  // The end of the log does not show this: the server prints it first, and then a long trace.
  let isPortTaken = false;
  for (const output of [child.stdout, child.stderr]) {
    output?.on('data', (chunk: Buffer) => {
      log.write(chunk);
      isPortTaken ||= chunk.includes(portTaken);
    });
  }
  const address = `127.0.0.1:${port}`;
  const abort = new AbortController();
  const given = options.signal ?? abort.signal;
  const signal = anySignal([abort.signal, given]);
  const ready = prepareNamespace({ address, namespace, signal });
  try {
    const first = await Promise.race([ready.then(() => 'ready' as const), exited.then(() => 'exited' as const)]);
    if (first === 'exited' || child.pid === undefined) return isPortTaken ? 'port_taken' : 'ended';
  } catch (cause) {
    await stop('SIGKILL');
    given.throwIfAborted();
    throw startFailed(log, cause);
  } finally {
    abort.abort();
    await ready.catch(() => undefined);
  }
  void exited.then(() => log.close());
  return {
    address,
    namespace,
    uiUrl: uiPort === undefined ? undefined : `http://${uiHost}:${uiPort}`,
    pid: child.pid,
    /** Resolves when the process has ended, with its exit code or null after a signal. */
    exited,
    /** Ends the server and waits for it. Repeating it changes nothing. */
    // State in memory needs no orderly end, which would take a second.
    stop: () => stop(databaseFile === undefined ? 'SIGKILL' : 'SIGTERM'),
  };
}

interface ServerArguments {
  readonly port: number;
  readonly uiPort: number | undefined;
  readonly uiHost: string;
  readonly namespace: string;
  readonly databaseFile: string | undefined;
}

function serverArguments({ port, uiPort, uiHost, namespace, databaseFile }: ServerArguments): string[] {
  const where = ['--ip', '127.0.0.1', '--port', String(port), '--namespace', namespace];
  const ui = uiPort === undefined ? ['--headless'] : ['--ui-ip', uiHost, '--ui-port', String(uiPort)];
  // The default pragmas are three times slower. With these pragmas, a crash of the server loses no data either.
  const pragmas = ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal'];
  // The server takes the path for a URI: `%`, `?` and `#` in a folder's name would lead elsewhere. So it runs in the folder.
  const file = databaseFile === undefined ? [] : ['--db-filename', basename(databaseFile), ...pragmas];
  const dynamic = [...dynamicConfig, sharing(databaseFile), shutHttpApi()].flatMap((value) => [
    '--dynamic-config-value',
    value,
  ]);
  const log = ['--log-level', 'warn', '--log-format', 'json'];
  return ['server', 'start-dev', ...where, ...ui, ...file, ...dynamic, ...log];
}

export const dynamicConfig = [
  // The default is 20 a second for each shard. The dev server has one shard, so it would run four jobs a second.
  'history.transferProcessorMaxPollRPS=200',
  'history.timerProcessorMaxPollRPS=200',
  'history.visibilityProcessorMaxPollRPS=200',
  // The default is one second: a timer of 50 ms would take a second.
  'history.timerProcessorMaxTimeShift="10ms"',
  'system.enableActivityEagerExecution=true',
  // The default is four partitions of a task queue. A worker asks for new workflows with two pollers, so the last of many
  // waited for seconds in a partition that nobody asked.
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
];

/**
 * Fairness keys share a queue only if it is made for that: this version of the server loses the tasks that wait in it when it
 * changes. So a database has fairness from its beginning, or priorities alone.
 */
export function sharing(databaseFile: string | undefined): string {
  const mark = `${databaseFile}.fair`;
  if (databaseFile !== undefined && !existsSync(databaseFile)) writeFileSync(mark, '', { mode: 0o600 });
  const isFair = databaseFile === undefined || existsSync(mark);
  return `matching.${isFair ? 'enableFairness' : 'useNewMatcher'}=true`;
}

/**
 * In addition to gRPC the server has an HTTP API that cannot be disabled and accepts a plain POST from anybody, web
 * pages included. This API answers only requests for a host name in its list. The list contains only a random name that
 * nobody knows.
 */
function shutHttpApi(): string {
  return `frontend.httpAllowedHosts=["${randomBytes(16).toString('hex')}.invalid"]`;
}

/** The server asks for the name of its user, and gives up without one. */
function unknownUser(cause: unknown): SandflowError {
  const message =
    `The Temporal server of the embedded stack cannot be started${byOwnUser()}: this user has no entry in /etc/passwd. ` +
    'Add one, or set TEMPORAL_ADDRESS to a Temporal server of yours.';
  return new SandflowError('temporal_start_failed', message, { cause });
}

function startFailed(log: RotatingLog, cause?: unknown): SandflowError {
  if (/unknown userid|Current requires cgo/.test(log.tail())) return unknownUser(cause);
  const reason = cause instanceof Error ? `${cause.message}\n` : '';
  return new SandflowError(
    'temporal_start_failed',
    `The Temporal server did not start; its output is in ${log.path}.\n${reason}${log.tail()}`,
    { cause },
  );
}

const retryMs = 20;
const callTimeoutMs = 2_000;
/** The dev server keeps closed workflows for a day. A job's result should be readable for longer. */
const retention = '30 days';

/**
 * Resolves when workflows can be started, listed and counted in the namespace, and closed ones stay readable for long
 * enough.
 * @throws the last error at the timeout
 */
async function prepareNamespace({
  address,
  namespace,
  signal,
}: Record<'address' | 'namespace', string> & { readonly signal: AbortSignal }): Promise<void> {
  const giveUpAt = Date.now() + startTimeoutMs;
  // gRPC waits for a second after a refused connection, so it is used only once the port is open.
  while (!(await isListening(address)) && Date.now() < giveUpAt) await sleep(retryMs, undefined, { signal });
  const connection = Connection.lazy({ address });
  const { workflowService } = connection;
  try {
    for (;;) {
      signal.throwIfAborted();
      try {
        await connection.withDeadline(Date.now() + callTimeoutMs, async () => {
          await workflowService.describeNamespace({ namespace });
          await workflowService.updateNamespace({
            namespace,
            config: { workflowExecutionRetentionTtl: msToTs(retention) },
          });
          await workflowService.countWorkflowExecutions({ namespace, query: '' });
        });
        return;
      } catch (error) {
        if (Date.now() > giveUpAt) throw error;
        await sleep(retryMs, undefined, { signal });
      }
    }
  } finally {
    await connection.close();
  }
}

function isListening(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
