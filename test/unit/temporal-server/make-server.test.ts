import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildTemporalCli } from '../../../src/temporal/go-build.js';
import { downloadTemporalCli } from '../../../src/temporal/sdk-download.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sandflow-make-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('building the server with Go', () => {
  const version = 'v1.5.1';
  /** A program in the place of Go. */
  const fakeGo = (script: string) => {
    const path = join(directory, 'go');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };

  it('installs the wanted version into the directory and counts what it downloads', async () => {
    const go = fakeGo(`echo "$@" > "$GOBIN/arguments"
      echo "go: downloading a v1" >&2; echo "go: downloading b v1" >&2; touch "$GOBIN/half"
      while [ ! -e "$GOBIN/go-on" ]; do :; done`);
    const onProgress = vi.fn((line: string) => {
      if (line.includes('2 modules downloaded')) writeFileSync(join(directory, 'go-on'), '');
    });
    await buildTemporalCli({ version, directory, go, onProgress, progressEveryMs: 20 });
    const args = readFileSync(join(directory, 'arguments'), 'utf8').trim();
    expect(args).toBe('install -buildvcs=false -ldflags=-s -w github.com/temporalio/cli/cmd/temporal@v1.5.1');
    expect(onProgress).toHaveBeenLastCalledWith(expect.stringMatching(/^built the Temporal server in \d+ s$/));
  });

  it('fails with the end of the output', async () => {
    const go = fakeGo('echo "go: downloading a v1" >&2; echo "the proxy refuses" >&2; exit 1');
    const failing = buildTemporalCli({ version, directory, go, onProgress: () => undefined });
    await expect(failing).rejects.toMatchObject({
      code: 'go_build_failed',
      message: expect.stringMatching(/the proxy refuses$/),
    });
  });

  it('says that Go is missing', async () => {
    const go = join(directory, 'no-go');
    const failing = buildTemporalCli({ version, directory, go, onProgress: () => undefined });
    await expect(failing).rejects.toMatchObject({ code: 'go_missing' });
  });

  it('ends at once when it is no longer wanted', async () => {
    const go = fakeGo('echo $$ > "$GOBIN/pid"; while :; do :; done');
    const controller = new AbortController();
    const { signal } = controller;
    const building = buildTemporalCli({ version, directory, go, signal, onProgress: () => undefined });
    await vi.waitFor(() => expect(existsSync(join(directory, 'pid'))).toBe(true));
    controller.abort();
    await expect(building).rejects.toMatchObject({ code: 'go_build_failed' });
  });
});

describe("the SDK's download", () => {
  const version = 'v1.5.1';
  const download = (program: string) =>
    downloadTemporalCli({ version, directory, program, giveUpAfterMs: 1_000, onProgress: () => undefined });

  it('hands over the file that was downloaded', async () => {
    const program = `require('fs').writeFileSync(process.argv[2] + '/temporal-sdk-' + process.argv[3], 'binary')`;
    expect(await download(program)).toBe(true);
    expect(readFileSync(join(directory, 'temporal'), 'utf8')).toBe('binary');
  });

  it('is not there when it fails', async () => {
    expect(await download('process.exit(1)')).toBe(false);
    expect(existsSync(join(directory, 'temporal'))).toBe(false);
  });

  it('is given up soon when nothing comes', async () => {
    const startedAt = Date.now();
    expect(await download('setInterval(() => undefined, 1000)')).toBe(false);
    expect(Date.now() - startedAt).toBeLessThan(5_000);
  });

  it('goes on for as long as more comes', async () => {
    mkdirSync(join(directory, 'download'));
    const program = `
      const file = process.argv[2] + '/part';
      let rounds = 0;
      setInterval(() => {
        require('fs').appendFileSync(file, 'x');
        if (++rounds === 12) process.exit(0);
      }, 200);`;
    expect(await download(program)).toBe(true);
    expect(readFileSync(join(directory, 'temporal'), 'utf8')).toHaveLength(12);
  });
});
