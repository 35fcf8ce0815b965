/** A program whose Temporal SDK is another copy than that of sandflow, as npm installs it for another version. */
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as sandflow from '../../../../src/index.js';

const installed = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
const options = {
  client: {},
  results: {},
  taskQueue: 'q',
  secrets: () => [],
} as never as sandflow.SandflowWorkerOptions;

let folder: string;
let program: string;
let load: NodeJS.Require;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'sandflow-other-copy-')));
  await symlink(installed, join(folder, 'node_modules'));
  program = join(folder, 'program');
  for (const name of ['@temporalio/client', '@temporalio/worker', '@temporalio/workflow']) {
    const copy = join(program, 'node_modules', name);
    await mkdir(copy, { recursive: true });
    await cp(join(installed, name, 'lib'), join(copy, 'lib'), { recursive: true });
    const description = await readFile(join(installed, name, 'package.json'), 'utf8');
    await writeFile(join(copy, 'package.json'), description.replace(/"version": "[^"]+"/, '"version": "1.2.3"'));
  }
  load = createRequire(join(program, 'main.js'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a call throws; undefined if it throws nothing. */
const errorOf = (call: () => unknown): Promise<unknown> =>
  Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (error: unknown) => error,
    );

describe('an entry point names another copy of the SDK, with both versions', () => {
  it.each([
    ['startJob', (client: Client) => sandflow.startJob(client, {} as never, options)],
    ['requestStop', (client: Client) => sandflow.requestStop(client, {} as never, options)],
    ['submitFanout', (client: Client) => sandflow.submitFanout(client, {} as never, [], options)],
    ['createBridge', (temporalClient: Client) => sandflow.createBridge({ ...options, temporalClient } as never)],
  ])('%s: of a client, and accepts one of its own copy', async (_, call) => {
    const other = load('@temporalio/client') as typeof import('@temporalio/client');
    const foreign = new other.Client({ connection: other.Connection.lazy() });
    expect(await errorOf(() => call(foreign))).toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(
        /[cC]lient comes from another copy of @temporalio\/client \(1\.2\.3\) than sandflow's \(1\.\d+\.\d+\)\. .*`npm ls @temporalio\/client`/,
      ),
    });
    const own = new Client({ connection: Connection.lazy() });
    expect(String(await errorOf(() => call(own)))).not.toContain('another copy');
  });

  it('createSandflowWorker: of a connection', async () => {
    const { NativeConnection } = load('@temporalio/worker') as typeof import('@temporalio/worker');
    const connection = Object.create(NativeConnection.prototype);
    expect(await errorOf(() => sandflow.createSandflowWorker({ ...options, connection }))).toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('connection comes from another copy of @temporalio/worker (1.2.3) than'),
    });
  });

  it('createSandflowWorker: of workflows', async () => {
    const workflowsPath = join(program, 'workflows.js');
    await writeFile(workflowsPath, "exports.own = () => require('@temporalio/workflow').sleep(1);\n");
    const worker = { ...options, connection: {} as never, workflowsPath };
    expect(await errorOf(() => sandflow.createSandflowWorker(worker))).toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(
        /^The workflow bundle has several copies of @temporalio\/workflow \(\S+program\/node_modules\/\S+, \S+\)\. /,
      ),
    });
  });
});
