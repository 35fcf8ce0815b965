import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../src/os/free-port.js';
import { openRotatingLog } from '../../../src/os/rotating-log.js';
import { unlessTaken } from './free-ports.js';

describe('a log that rotates', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sandflow-log-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('keeps the lines before the limit in one older file, and only its owner can read it', () => {
    const path = join(directory, 'logs', 'a.log');
    const log = openRotatingLog(path, { maxBytes: 10 });
    for (const line of ['first\n', 'second\n', 'third\n']) log.write(line);
    log.close();
    expect(readFileSync(path, 'utf8')).toBe('third\n');
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('second\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(log.tail()).toBe('first\nsecond\nthird\n');
  });

  it('continues a log of an earlier process, and drops lines after its close', () => {
    const path = join(directory, 'a.log');
    const first = openRotatingLog(path);
    first.write('one\n');
    first.close();
    first.write('late\n');
    const second = openRotatingLog(path);
    second.write(Buffer.from('two\n'));
    second.close();
    second.close();
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  });
});

describe('a free port', () => {
  it('is the first free preferred one, or another', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const takenPort = typeof address === 'object' && address ? address.port : 0;
    try {
      await unlessTaken(async () => {
        const free = await freePort();
        return (await freePort([takenPort, free])) === free;
      });
      expect(await freePort([takenPort])).not.toBe(takenPort);
    } finally {
      await new Promise((resolve) => taken.close(resolve));
    }
  });
});
