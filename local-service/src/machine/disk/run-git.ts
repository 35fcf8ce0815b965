/** Runs `git` outside every sandbox, for as long and as large as it may be. */
import { totalmem } from 'node:os';
import { withoutSecrets } from '../../../../src/errors/without-secrets.js';
import { spawnBoundToParent } from '../../../../src/os/spawn-bound-to-parent.js';
import { programEnvironment } from '../program.js';

/** Short, because a fast server fills a gigabyte in seconds. A check costs one system call. */
const checkIntervalMs = 100;
const maxStderr = 64 * 1024;

/**
 * Git keeps the list of branches in memory, and a server can make that endless. The largest public repositories need
 * less.
 */
export const maxGitMemory = Math.min(4 * 1024 ** 3, totalmem() / 2);

interface GitRun {
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The limit of each of its processes. */
  readonly memoryBytes: number;
  /** Why it must end now; null while it may go on. Asked again and again. */
  readonly mustEnd: () => Promise<string | null>;
  readonly signal: AbortSignal | undefined;
}

/**
 * The programs that git starts, such as ssh, end with it.
 * @returns why it failed, without the login of an address; null if it succeeded
 */
export function runGit(
  args: readonly string[],
  { env, timeoutMs, memoryBytes, mustEnd, signal }: GitRun,
): Promise<string | null> {
  return new Promise((resolve) => {
    // A process group of its own, because a killed git leaves its programs waiting for the server.
    const limited = `ulimit -d ${Math.floor(memoryBytes / 1024)}; exec git "$@"`;
    const child = spawnBoundToParent('/bin/sh', ['-c', limited, 'sh', ...args], {
      env: { ...programEnvironment, ...env },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let ended: string | undefined;
    const end = (why: string): void => {
      ended ??= why;
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    };
    const close = (): void => end('the service is shutting down');
    const timer = setTimeout(() => end(`it did not end within ${timeoutMs / 1_000} s`), timeoutMs);
    const check = setInterval(() => {
      void mustEnd().then(
        (why) => why === null || end(why),
        () => undefined,
      );
    }, checkIntervalMs);
    signal?.addEventListener('abort', close);
    if (signal?.aborted) close();
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(0, maxStderr);
    });
    const settle = (problem: string | null): void => {
      clearTimeout(timer);
      clearInterval(check);
      signal?.removeEventListener('abort', close);
      resolve(problem);
    };
    child.once('error', (error) => settle(`git could not be started: ${error.message}`));
    child.once('close', (exitCode) => settle(ended ?? (exitCode === 0 ? null : reasonIn(stderr))));
  });
}

/** Git says the reason in its first `fatal:` line. That of ssh is in the line before, and git's own says nothing. */
function reasonIn(stderr: string): string {
  const lines = stderr.trim().split('\n');
  const at = lines.findIndex((line) => line.startsWith('fatal:'));
  const isOfSsh = at > 0 && lines[at]?.includes('Could not read from remote repository');
  const reason = lines.at(isOfSsh ? at - 1 : at);
  // An `insteadOf` of the user may have put a login into the address. A part of a secret would not be found later.
  return withoutSecrets((reason || 'git failed').replace(/(\w:\/\/)[^/\s@]*@/g, '$1')).slice(0, 500);
}
