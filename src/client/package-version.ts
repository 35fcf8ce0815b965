import { readFile } from 'node:fs/promises';

/** Reads the nearest package.json of sandflow, here or above. This works from both `src/` and `dist/src/`. */
export async function packageVersion(from: string = import.meta.url): Promise<string> {
  for (let folder = new URL('.', from); ; folder = new URL('..', folder)) {
    try {
      const parsed: unknown = JSON.parse(await readFile(new URL('package.json', folder), 'utf8'));
      if (typeof parsed === 'object' && parsed !== null && 'name' in parsed && parsed.name === 'sandflow') {
        return 'version' in parsed ? String(parsed.version) : 'unknown';
      }
    } catch {
      // No package.json in this folder: look above.
    }
    if (folder.pathname === '/' || new URL('..', folder).href === folder.href) return 'unknown';
  }
}
