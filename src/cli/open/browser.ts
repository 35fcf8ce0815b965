/** Opens a URL in the user's browser. */
import { spawn } from 'node:child_process';

/** The program that opens a browser may keep running. If it fails, it ends within this time. */
const failsWithinMs = 2_000;

/** The browser does not need these secrets. */
const secrets = ['SANDBOX_API_KEY', 'SANDBOX_WEBHOOK_SECRET', 'TEMPORAL_API_KEY'].flatMap((name) => ['-u', name]);

/**
 * Uses no shell. Never throws.
 * @param url an absolute URL, so that it cannot be taken for an option
 * @param opener the program to start
 * @returns false if there is no browser, or none that this process can start
 */
export function openInBrowser(
  url: URL,
  opener: string = process.platform === 'darwin' ? 'open' : 'xdg-open',
): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('env', [...secrets, opener, url.href], { detached: true, stdio: 'ignore' });
    const isOpen = setTimeout(() => resolve(true), failsWithinMs);
    const end = (opened: boolean) => {
      clearTimeout(isOpen);
      resolve(opened);
    };
    child.once('error', () => end(false));
    child.once('exit', (code) => end(code === 0));
    child.unref();
  });
}
