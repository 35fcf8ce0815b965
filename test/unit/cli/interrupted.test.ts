/** After Ctrl-C, a command says truly whether it has started something. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { expect, it, vi } from 'vitest';
import { watchStopToEnd } from '../../../src/cli/stops/watch-to-end.js';
import type { FanoutItem } from '../../../src/index.js';
import { submitFanout } from '../../../src/workflow-client/fanouts/submit-fanout.js';
import { cli } from './in-process.js';
import { temporaryDirectory } from './temporary-directory.js';

/** Nothing listens there. */
const env = { TEMPORAL_ADDRESS: '127.0.0.1:9', SANDBOX_API_URL: 'http://127.0.0.1:9/v1', SANDBOX_API_KEY: 'key' };
const interrupted = AbortSignal.abort('SIGINT');

it('a batch that was not started is not said to run', async () => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, 'prompts.txt'), 'one\ntwo\n');
  const { exitCode, stdout, stderr } = await cli(['fanout', 'prompts.txt', '--json'], { cwd, env, interrupted });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 130,
    stderr: 'error: Interrupted. This command has started no batch.\n',
  });
  expect(JSON.parse(stdout).error.code).toBe('interrupted');
});

it.each([
  ['run hello --id one', 'started no job'],
  ['jobs rerun one', 'started no job'],
  ['continue one hello', 'started no job'],
  ['fanout resume one', 'resumed no batch'],
  ['stop bx_2345abcd', 'requested no stop'],
  ['cleanup run night.yaml', 'started no cleanup'],
])('a command that was interrupted at its start says so: %s has %s', async (words, undone) => {
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, 'night.yaml'), 'name: night\nrules: [{rule: a, action: stop}]\n');
  const { exitCode, stderr } = await cli(words.split(' '), { cwd, env, interrupted });
  expect(exitCode).toBe(130);
  expect(stderr).toContain(`error: Interrupted. This command has ${undone}.\n`);
  expect(stderr).not.toMatch(/may have started|running|continue/);
});

it('a batch may have started once its first items were read, and not before', async () => {
  const input = {
    deployment: 'd',
    batchId: 'b',
    source: { kind: 'sandbox', sandboxId: 'bx_22222222', allowStale: false },
  } as const;
  const item = { id: '1', prompts: [{ prompt: 'one' }] };
  const broken = (async function* (): AsyncGenerator<FanoutItem> {
    yield item;
    throw new Error('gone');
  })();
  const onStart = vi.fn();
  const noTemporal = { options: { loadedDataConverter: { payloadCodecs: [] } } } as unknown as Client;
  await expect(submitFanout(noTemporal, input, broken, { taskQueue: 'q', onStart })).rejects.toThrow('gone');
  expect(onStart).not.toHaveBeenCalled();
  const manyLabels = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`label-${at}`, 'of a batch']));
  const refused = submitFanout(noTemporal, input, [item], { taskQueue: 'q', onStart, labels: manyLabels });
  await expect(refused).rejects.toMatchObject({ code: 'bad_fanout_input' });
  expect(onStart).not.toHaveBeenCalled();
  await expect(submitFanout(noTemporal, input, [item], { taskQueue: 'q', onStart })).rejects.toThrow();
  expect(onStart).toHaveBeenCalledOnce();
});

it('a stop that waited for its turn was not requested', async () => {
  const unreachable = () => expect.unreachable();
  const end = await watchStopToEnd('bx_2345abcd', {
    request: { requestId: 'r', deadlineMs: 1, alertAfterMs: null },
    ...{ taskQueue: 'q', deployment: 'd', wait: true, lookEveryMs: [1, 1], interrupted },
    gate: (work) => work(),
    link: { call: unreachable },
    reporter: { notice: unreachable } as never,
  });
  expect(end).toMatchObject({ kind: 'left', error: { code: 'interrupted', message: 'The stop was not requested.' } });
});
