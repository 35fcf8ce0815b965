/** What commands say on a full disk. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkDisk } from '../../../../src/cli/doctor/check-disk.js';
import { failureOf } from '../../../../src/cli/errors.js';
import { withWayBack } from '../../../../src/cli/fanout/watch-to-end.js';
import { saveFiles } from '../../../../src/cli/run/save-files.js';
import { readConfig } from '../../../../src/config.js';
import { writePrivateFile } from '../../../../src/os/private-file.js';
import { createResultStore } from '../../../../src/result-store/index.js';
import { fullFolder, mounts } from '../../../setup/full-folder.js';
import { cli } from '../in-process.js';

const content = Buffer.alloc(64 * 1024, 'x');

describe.skipIf(!mounts())('a full disk', () => {
  it('is named with the file that cannot be written, wherever it strikes', async () => {
    const { path } = await fullFolder();
    const writes: readonly (() => Promise<unknown>)[] = [
      () => createResultStore(join(path, 'results')).put('jobs/one', content),
      () => writePrivateFile(join(path, 'home', 'ports.json'), content.toString()),
    ];
    for (const write of writes) {
      const { exitCode, error } = await write().then(() => undefined as never, failureOf);
      expect(error).toMatchObject({ code: 'disk_full', message: expect.stringContaining('The disk is full') });
      expect(error.message).toContain(path);
      expect(exitCode).toBe(3);
    }
  });

  it('in the output folder loses no result: it says how to save the file elsewhere', async () => {
    const { path, free } = await fullFolder();
    const file = { path: 'out/a.md', ref: 'r', size: content.length, sha256: null, error: null } as never;
    const save = () =>
      saveFiles([file], [{ remote: 'out/a.md', local: 'a.md' }], { get: async () => content }, path, 'nightly');
    const [lost] = await save();
    expect(lost).toMatchObject({ localPath: null, error: expect.stringContaining('The disk is full') });
    expect(lost?.error).toContain("sandflow jobs watch nightly --get 'out/a.md:OTHER_PATH'");
    await free();
    expect(await save()).toMatchObject([{ localPath: join(path, 'a.md'), error: null }]);

    const cause = Object.assign(new Error('write'), { code: 'ENOSPC' });
    const error = failureOf(withWayBack(cause, 'three', 'completed', ['out/a.md:a.md'])).error;
    expect(error).toMatchObject({
      code: 'disk_full',
      message: expect.stringContaining('fanout watch three --get out/a.md:a.md --out DIR'),
    });
    const other = new Error('another');
    expect(withWayBack(other, 'three', 'completed')).toBe(other);
  });

  it('under Temporal and the service is named by the command that fails, and by doctor', async () => {
    const { path: home, free } = await fullFolder();
    // A configured Temporal that is not there fails as one does whose disk is full: without naming the disk.
    const env = {
      SANDFLOW_HOME: home,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      SANDBOX_API_URL: 'http://127.0.0.1:9/v1',
      SANDBOX_API_KEY: 'k',
    };
    const failing = await cli(['jobs', 'list', '--json'], { env });
    expect(JSON.parse(failing.stdout).error).toMatchObject({
      code: 'disk_full',
      message: expect.stringMatching(`The disk is full.*${home}.*Free some space.*cannot be reached`),
    });
    expect(failing.exitCode).toBe(3);
    const embedded = readConfig({ SANDFLOW_HOME: home });
    expect(await checkDisk(embedded)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('temporal.db'),
    });
    await free();
    expect(JSON.parse((await cli(['jobs', 'list', '--json'], { env })).stdout).error.code).toBe('temporal_unreachable');
    expect((await checkDisk(embedded)).status).toBe('warning');
    expect((await checkDisk(readConfig(env))).status).toBe('ok');
  });
});
