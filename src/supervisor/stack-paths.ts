/** The paths of all files of a stack, below its SANDFLOW_HOME. */
import { join } from 'node:path';

export interface StackPaths {
  readonly home: string;
  /** Held by the supervisor while it lives. */
  readonly lockFile: string;
  /** How to reach the supervisor; mode 600, since it holds the token of the control connection. */
  readonly stateFile: string;
  /** What is remembered of a stack that has not ended in order. */
  readonly recordFile: string;
  readonly portsFile: string;
  readonly logDirectory: string;
  readonly supervisorLog: string;
  readonly temporalDatabase: string;
  readonly localServiceDirectory: string;
  /** Key of the local service, mode 600. */
  readonly localApiKeyFile: string;
}

export function stackPaths(home: string): StackPaths {
  const logDirectory = join(home, 'logs');
  return {
    home,
    lockFile: join(home, 'supervisor.lock'),
    stateFile: join(home, 'supervisor.json'),
    recordFile: join(home, 'stack.json'),
    portsFile: join(home, 'ports.json'),
    logDirectory,
    supervisorLog: join(logDirectory, 'supervisor.log'),
    temporalDatabase: join(home, 'temporal.db'),
    localServiceDirectory: join(home, 'local-service'),
    localApiKeyFile: localApiKeyFile(home),
  };
}

/** The key of the local service of a home. */
export function localApiKeyFile(home: string): string {
  return join(home, 'local-api-key');
}
