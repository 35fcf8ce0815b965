/** A directory for the programs that a test replaces, and an empty one to make a server in. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function createWorkshop() {
  const root = mkdtempSync(join(tmpdir(), 'sandflow-make-'));
  const directory = join(root, 'making');
  mkdirSync(directory);
  return {
    root,
    directory,
    missing: join(root, 'no-such-program'),
    /** Writes a script that replaces a program. */
    program(name: string, script: string): string {
      const path = join(root, name);
      writeFileSync(path, `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
      return path;
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
