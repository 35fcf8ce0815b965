// Finds a Chromium on the PATH, for the tests of web pages that attack a stack, and of desktops.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of the browser; undefined if there is none. */
export function findChromium() {
  return ['chromium', 'chromium-browser', 'google-chrome']
    .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}
