import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureKeyFile } from '../../../src/os/private-file.js';
import { prepareTrustedFolder } from '../../../src/os/trusted-folder.js';
import { choosePorts } from '../../../src/supervisor/ports.js';
import { listensOn, unlessTaken } from '../os/free-ports.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sandflow-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe('the ports of a stack', () => {
  it('are the same the next time, except for one in use', () =>
    unlessTaken(async (round) => {
      const file = join(home, `ports-${round}.json`);
      const first = await choosePorts(file);
      expect(new Set(Object.values(first)).size).toBe(5);
      if (!isDeepStrictEqual(await choosePorts(file), first)) return false;
      const other = createServer();
      if (!(await listensOn(other, first.bridge))) return false;
      try {
        const { bridge, ...rest } = await choosePorts(file);
        expect(bridge).not.toBe(first.bridge);
        return isDeepStrictEqual({ ...rest, bridge: first.bridge }, first);
      } finally {
        await new Promise((resolve) => other.close(resolve));
      }
    }));

  it.each([
    '',
    '{"temporal"',
    '[]',
    '{"temporal":"x","bridge":70000}',
    '{"temporal":9999,"bridge":9999}',
    '{"temporalUiHost":"127.999.1.1"}',
    '{"temporalUiHost":"10.0.0.1"}',
  ])('are chosen again if the file contains %j', async (text) => {
    const file = join(home, 'ports.json');
    writeFileSync(file, text);
    const ports = await choosePorts(file);
    expect(new Set(Object.values(ports)).size).toBe(5);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(ports);
  });
});

describe('the files of a home', () => {
  it('contain a random key that only their owner may read and that stays', async () => {
    const file = join(home, 'key');
    const key = await ensureKeyFile(file);
    expect(await ensureKeyFile(file)).toBe(key);
    expect(await ensureKeyFile(join(home, 'other'))).not.toBe(key);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('cannot exist if the directory is not one', async () => {
    const file = join(home, 'file');
    writeFileSync(file, '');
    const prepareHome = (path: string) => prepareTrustedFolder({ path, setting: 'SANDFLOW_HOME' });
    for (const path of [join(file, 'home'), file]) {
      await expect(prepareHome(path)).rejects.toMatchObject({
        code: 'home_not_writable',
        message: expect.stringContaining(`is not a directory: ${file} is a file`),
      });
    }
    await prepareHome(join(home, 'new', 'deeper'));
    expect(statSync(join(home, 'new', 'deeper')).mode & 0o777).toBe(0o700);
  });
});
