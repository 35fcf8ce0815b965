import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { acquireFileLock, tryAcquireFileLock } from '../../../src/os/file-lock.js';

describe('the lock on a file', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sandflow-lock-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('is held by one process at a time and is free after its release', () => {
    const path = join(directory, 'deeper', 'a.lock');
    const first = tryAcquireFileLock(path);
    expect(first).toBeDefined();
    expect(tryAcquireFileLock(path)).toBeUndefined();
    first?.release();
    first?.release();
    const second = tryAcquireFileLock(path);
    expect(second).toBeDefined();
    second?.release();
  });

  it('is given to a waiting process, which is told once that another holds it', async () => {
    const path = join(directory, 'a.lock');
    const first = tryAcquireFileLock(path);
    const onWait = vi.fn();
    const waiting = acquireFileLock(path, { onWait });
    await expect.poll(() => onWait.mock.calls.length).toBe(1);
    first?.release();
    (await waiting).release();
    expect(onWait).toHaveBeenCalledOnce();
  });

  it('is waited for until an abort', async () => {
    const path = join(directory, 'a.lock');
    const lock = tryAcquireFileLock(path);
    await expect(acquireFileLock(path, { signal: AbortSignal.timeout(150) })).rejects.toThrow('abort');
    lock?.release();
  });

  it('is free at once if its holder is killed', async () => {
    const path = join(directory, 'a.lock');
    const libsql = createRequire(import.meta.url).resolve('libsql');
    const hold = `const D = require(process.argv[1]); const d = new D(process.argv[2]); d.exec('BEGIN EXCLUSIVE');
      console.log('held'); setInterval(() => d.open, 1000);`;
    const holder = spawn(process.execPath, ['-e', hold, libsql, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    expect(tryAcquireFileLock(path)).toBeUndefined();
    const ended = new Promise((resolve) => holder.once('exit', resolve));
    holder.kill('SIGKILL');
    await ended;
    const lock = tryAcquireFileLock(path);
    expect(lock).toBeDefined();
    lock?.release();
  });

  it('reports a location that cannot be written', () => {
    writeFileSync(join(directory, 'file'), '');
    expect(() => tryAcquireFileLock(join(directory, 'file', 'a.lock'))).toThrow(/cannot be written/);
  });
});
