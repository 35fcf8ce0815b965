/** The paths of all files of a stack, below its SANDFLOW_HOME. */
import { join } from 'node:path';

export type StackPaths = Readonly<ReturnType<typeof stackPaths>>;

export function stackPaths(home: string) {
  const logDirectory = join(home, 'logs');
  return {
    /** Held by the supervisor while it lives. */
    lockFile: join(home, 'supervisor.lock'),
    /** How to reach the supervisor; mode 600, since it holds the token of the control connection. */
    stateFile: join(home, 'supervisor.json'),
    /** What is remembered of a stack that has not ended in order. */
    recordFile: join(home, 'stack.json'),
    portsFile: join(home, 'ports.json'),
    logDirectory,
    supervisorLog: join(logDirectory, 'supervisor.log'),
    temporalDatabase: join(home, 'temporal.db'),
    localServiceDirectory: join(home, 'local-service'),
    localApiKeyFile: localApiKeyFile(home),
  };
}

/** The key of the local service of a home, mode 600. */
export function localApiKeyFile(home: string): string {
  return join(home, 'local-api-key');
}
