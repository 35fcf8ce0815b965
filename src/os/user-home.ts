import { homedir } from 'node:os';

/**
 * The home of the user of this process. A user whom the machine does not know, as in a container of an orchestrator,
 * has `/`, which container runtimes write into `HOME` too. Never throws.
 */
export function userHome(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}
