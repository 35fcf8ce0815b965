import { homedir } from 'node:os';

/**
 * The home folder of this user. For a user whom the system does not know, such as an arbitrary one of a container, it
 * is `/`, as container engines set it. Such a user can write nothing there, and is told so where it matters.
 */
export function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}
