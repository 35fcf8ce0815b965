/** Reads archives that a download sent. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** The text of each file in a tar.gz, by its path. */
export async function untar(bytes: Buffer): Promise<Readonly<Record<string, string>>> {
  const directory = await mkdtemp(join(tmpdir(), 'sandflow-untar-'));
  try {
    await new Promise<void>((resolve, reject) => {
      const tar = execFile('tar', ['-xzf', '-', '-C', directory], (error) => (error ? reject(error) : resolve()));
      tar.stdin?.end(bytes);
    });
    const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    const read = files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [relative(directory, path), await readFile(path, 'utf8')] as const;
    });
    return Object.fromEntries(await Promise.all(read));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
