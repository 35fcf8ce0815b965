import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * The home folder of this user, also if HOME is empty or no whole path. For a user whom the system does not know, such as
 * an arbitrary one of a container, it is `/`, as container engines set it. Such a user can write nothing there, and is
 * told so where it matters.
 */
export function homeFolder(): string {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : userInfo().homedir;
  } catch {
    return '/';
  }
}
