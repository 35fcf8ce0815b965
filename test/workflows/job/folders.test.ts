/** Folders go into a sandbox with their modes, and come out of it whole. Gate; a stand and some 15 s. */
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findPutFiles, readPutFiles } from '../../../src/cli/run/put-files.js';
import { saveFiles } from '../../../src/cli/run/save-files.js';
import { parseGetPairs, parsePutPair } from '../../../src/cli/settings/file-pairs.js';
import { ConnectionError, type SandboxClient } from '../../../src/client/index.js';
import type { FilePut } from '../../../src/protocol/job/job-input.js';
import type { JobResult } from '../../../src/protocol/job/job-result.js';
import { temporaryDirectory } from '../../unit/cli/temporary-directory.js';
import { archivedSandbox, fanoutInput, lines, run, source } from '../fanout/fanout-harness.js';
import { createStand, endFaults, type Stand, script, shortTiming } from '../workflow-harness.js';

let stand: Stand;
const calls: string[] = [];
let openArtifact: SandboxClient['openArtifact'] | undefined;
beforeAll(async () => {
  stand = await createStand({
    through: (client) =>
      new Proxy(client, {
        get(target, name: keyof SandboxClient) {
          if (['writeFile', 'runCommand', 'readFile', 'openArtifact'].includes(name)) calls.push(name);
          if (name === 'openArtifact' && openArtifact) return openArtifact;
          const member = target[name];
          return typeof member === 'function' ? member.bind(target) : member;
        },
      }),
  });
});
afterAll(() => stand.close());
afterEach(async () => {
  openArtifact = undefined;
  calls.length = 0;
  await endFaults(stand);
});

/** A folder `app` with a program, put as `work/my app`. */
async function appFolder(): Promise<{ readonly cwd: string; readonly put: FilePut[] }> {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, 'app', '.git'), { recursive: true });
  await writeFile(join(cwd, 'app', 'run'), '#!/bin/sh\necho "ran in $PWD" "$@"\n');
  await chmod(join(cwd, 'app', 'run'), 0o755);
  await writeFile(join(cwd, 'app', '.git', 'HEAD'), 'ref: refs/heads/main\n');
  const files = await findPutFiles([parsePutPair('app/:work/my app')], cwd);
  return { cwd, put: await readPutFiles(files, async (content) => (await stand.results.put('inputs/x', content)).ref) };
}

/** The same archive in parts of a few bytes. */
async function inParts([folder]: readonly FilePut[], bytes: number): Promise<FilePut[]> {
  if (!folder || !('tarGz' in folder.content)) throw new Error('no folder');
  const whole = Buffer.concat(await Promise.all(folder.content.tarGz.map((ref) => stand.results.get(ref))));
  const tarGz: string[] = [];
  for (let at = 0; at < whole.length; at += bytes)
    tarGz.push((await stand.results.put(`inputs/part-${at}`, whole.subarray(at, at + bytes))).ref);
  expect(tarGz.length).toBeGreaterThan(1);
  return [{ ...folder, content: { tarGz } }];
}

const collect = ['out/', 'none/', 'out/said/'];
const work = script(
  'mkdir out; ./work/my*/run well > out/said; cp work/my*/.git/HEAD out; chmod 700 out/HEAD; ln -s said out/link; ls -a > out/all',
);

async function savedIn(cwd: string, result: JobResult) {
  return saveFiles(result.files, parseGetPairs(collect), stand.results, cwd);
}

describe('a folder', () => {
  it('is put with its modes by two calls, and collected whole by one', async () => {
    const { cwd, put } = await appFolder();
    const result = await (await stand.start({ put, collect, prompts: [{ prompt: work }] })).result();
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed' }, left: [] });
    // One part, its command, the removal of the marker; no digest before the prompt.
    expect(calls.filter((name) => name !== 'openArtifact')).toEqual(['writeFile', 'runCommand', 'runCommand']);
    expect(result.files).toMatchObject([
      { path: 'out/', error: null, partial: false, unchanged: null, size: expect.any(Number) },
      { path: 'none/', ref: null, missing: true },
      { path: 'out/said/', ref: null, error: expect.stringContaining('out/said/') },
    ]);
    const [saved, none] = await savedIn(cwd, result);
    expect(saved).toMatchObject({ localPath: join(cwd, 'out'), error: null });
    expect(none).toMatchObject({ localPath: null });
    expect(await readFile(join(cwd, 'out/link'), 'utf8')).toMatch(/^ran in .* well\n$/);
    expect(await readFile(join(cwd, 'out/HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
    expect((await stat(join(cwd, 'out/HEAD'))).mode & 0o777).toBe(0o700);
    expect((await readFile(join(cwd, 'out/all'), 'utf8')).split('\n')).not.toContainEqual(
      expect.stringContaining('sandflow-put'),
    );
  });

  it('is unpacked once from its parts, although answers are lost and the worker goes', async () => {
    const { put } = await appFolder();
    await stand.fault({ kind: 'drop_response', endpoint: 'writeFile', times: 2 });
    await stand.fault({ kind: 'drop_response', endpoint: 'runCommand', times: 1 });
    await stand.fault({ kind: 'latency', endpoint: 'downloadArtifact', ms: 1_500, times: 1 });
    const handle = await stand.start({ put: await inParts(put, 20), collect, prompts: [{ prompt: work }] });
    await expect.poll(() => calls.includes('openArtifact')).toBe(true);
    await stand.restartWorker();
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', left: [] });
    expect(result.files[0]).toMatchObject({ path: 'out/', error: null });
    expect(await savedIn(await temporaryDirectory(), result)).toMatchObject([{ error: null }, {}, {}]);
  });

  it('of which the answer ends early is asked for again, and never taken for whole', async () => {
    let asked = 0;
    openArtifact = async (sandboxId, path, options) => {
      const whole = await stand.api.openArtifact(sandboxId, path, options);
      asked += 1;
      if (asked > 2) return whole;
      const cut = async function* () {
        for await (const piece of whole.body as AsyncIterable<Buffer>) yield piece.subarray(0, 20);
        throw new ConnectionError('downloadArtifact', true, 'UND_ERR_SOCKET');
      };
      return { ...whole, body: Readable.from(cut()) };
    };
    const result = await (await stand.start({ collect: ['out/'], prompts: [{ prompt: work }] })).result();
    expect(asked).toBe(3);
    expect(result.files).toMatchObject([{ path: 'out/', error: null }]);
    expect(
      await saveFiles(result.files, parseGetPairs(['out/']), stand.results, await temporaryDirectory()),
    ).toMatchObject([{ error: null }]);
  });

  it('may be the working directory itself', async () => {
    const result = await (await stand.start({ collect: ['./'], prompts: [{ prompt: work }] })).result();
    const cwd = await temporaryDirectory();
    expect(await saveFiles(result.files, parseGetPairs(['./:all']), stand.results, cwd)).toMatchObject([
      { error: null },
    ]);
    expect(await readFile(join(cwd, 'all/out/all'), 'utf8')).toContain('out');
  });

  it('that cannot be unpacked fails the job before its first prompt, and leaves no part', async () => {
    const { ref } = await stand.results.put('inputs/broken', Buffer.from('no archive'));
    const broken = { path: 'app', content: { tarGz: [ref] } };
    const handle = await stand.start({ put: [broken], timing: shortTiming });
    const result = await handle.result();
    expect(result).toMatchObject({
      outcome: 'sandbox_failed',
      error: { code: 'command_failed', message: expect.stringContaining('The command "unpack app" exited with') },
      prompts: [{ status: 'not_sent' }],
    });
  });

  it('goes into each fork of a batch, and comes from each', async () => {
    const { cwd, put } = await appFolder();
    const items = [1, 2].map((at) => ({ id: `item-${at}`, put, collect, prompts: [{ prompt: work }] }));
    const result = await run(stand, fanoutInput(source(await archivedSandbox(stand))), items);
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 2 } });
    for (const [at, { job }] of (await lines(stand, result)).entries()) {
      if (!job) throw new Error('no job');
      expect(job.files).toMatchObject([{ path: 'out/', error: null }, { missing: true }, {}]);
      await mkdir(join(cwd, `${at}`));
      expect(await savedIn(join(cwd, `${at}`), job)).toMatchObject([{ error: null }, {}, {}]);
      expect(await readFile(join(cwd, `${at}`, 'out/said'), 'utf8')).toContain('well');
    }
  });
});
