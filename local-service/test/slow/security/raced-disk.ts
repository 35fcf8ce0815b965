/** A sandbox whose program swaps a folder of its disk for a link to a folder of the host, as fast as it can. */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machine, ownSandboxId, temporaryDirectory } from '../../service/machine/machine-fixture.js';

/** Each file of the host's folder has a counterpart in the sandbox's. */
export const fileCount = 50;
export const insideText = 'of the sandbox';
export const outsideText = 'of the host';

/** A folder that a write from outside has created, while the name was free, is moved away. */
const swapProgram = `perl -e '$| = 1; print "begun\\n"; my $to = readlink "evil"; my $made = 0; while (1) {
  rename "folder", "parked"; symlink $to, "folder"; unlink "folder"; rename "parked", "folder";
  rename "folder", "made" . $made++ if -d "parked" }'`;

/** @param program runs in the sandbox until its host closes; reports that it has begun */
export async function racedDisk(program = swapProgram) {
  const under = await machine('bubblewrap');
  const outside = await temporaryDirectory();
  await mkdir(join(under.disk, 'folder'));
  for (let index = 0; index < fileCount; index += 1) {
    await writeFile(join(under.disk, 'folder', `f${index}`), insideText);
    await writeFile(join(outside, `f${index}`), outsideText);
  }
  await symlink(outside, join(under.disk, 'evil'));
  const failed = new AbortController();
  await new Promise<void>((resolve, reject) => {
    const swapping = under.host.run(
      ownSandboxId,
      { command: program },
      { onStdout: () => resolve(), signal: failed.signal },
    );
    swapping.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
  return { ...under, outside };
}

/** The texts of all files below a folder, each once. Links are not followed. */
export async function textsBelow(folder: string): Promise<Set<string>> {
  const texts = new Set<string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) texts.add(await readFile(join(entry.parentPath, entry.name), 'utf8'));
  }
  return texts;
}

/** The content of the host's folder, which stays the same as long as nobody escapes. */
export const untouched: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: fileCount }, (_, index) => [`f${index}`, outsideText]),
);

export async function outsideNow(outside: string): Promise<Record<string, string>> {
  const entries = await readdir(outside, { withFileTypes: true });
  return Object.fromEntries(
    await Promise.all(
      entries.map(async (entry) => [
        entry.name,
        entry.isFile() ? await readFile(join(outside, entry.name), 'utf8') : 'not a file',
      ]),
    ),
  );
}
