/** What a `temporal` binary is: whether it runs, and which server is inside. */
import { execFile } from 'node:child_process';

/** Its dev server's features are what jobs need: Update-with-start, signals with request ids, eager start. */
const minServerVersion = [1, 28] as const;
const timeoutMs = 10_000;

export interface CliBinary {
  readonly path: string;
  /** Such as `1.29.1`. The version of the command line itself says nothing when it was built from a module. */
  readonly serverVersion: string;
  readonly recentEnough: boolean;
}

/** Runs `<path> --version`; undefined if that fails or answers as something else. */
export function inspectCliBinary(path: string): Promise<CliBinary | undefined> {
  return new Promise((resolve) => {
    execFile(path, ['--version'], { timeout: timeoutMs, killSignal: 'SIGKILL' }, (error, stdout) => {
      const match = /temporal version .*\(Server (\d+)\.(\d+)(\.\d+)?/.exec(stdout);
      if (error || !match) return resolve(undefined);
      const [, major = '', minor = '', patch = ''] = match;
      const [minMajor, minMinor] = minServerVersion;
      const recentEnough = Number(major) > minMajor || (Number(major) === minMajor && Number(minor) >= minMinor);
      resolve({ path, serverVersion: `${major}.${minor}${patch}`, recentEnough });
    });
  });
}
