import { readdir, rm } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SandboxClient } from '../../../../src/client/index.js';
import type { JobInput } from '../../../../workflows/index.js';
import { createStand, patient, type Stand, type StandOptions } from '../../workflow-harness.js';

let stand: Stand;
afterEach(async () => {
  // The markers of commands that never started.
  await Promise.all((await markers()).map((name) => rm(`/tmp/${name}`, { recursive: true })));
  await stand.close();
});

/** Writes a line each time it runs. */
const counting = 'echo ran >> runs';
const input = { prompts: [], commands: [counting], end: 'keep', onUnknownOutcome: 'abandon' } as const;

const sandboxId = () => stand.service.books.sandboxes()[0]?.id ?? '';
const readFile = async (path: string) => (await stand.api.readFile(sandboxId(), path)).content;
const run = async (over: Partial<JobInput> = {}) => (await stand.start({ ...input, ...over })).result();

/** The files of commands, which a stand without isolation stores on this machine. */
const markers = async () => (await readdir('/tmp')).filter((name) => name.startsWith(`.sandflow-${sandboxId()}`));

/** The effect of the worker's client on the texts of its commands. */
const texts = (change: (text: string, client: SandboxClient, id: string) => Promise<string>): StandOptions => ({
  through: (client) => ({
    ...client,
    runCommand: async (id, body, options) =>
      client.runCommand(id, { ...body, command: await change(body.command, client, id) }, options),
  }),
});

describe('a command', () => {
  it('runs once if its answer is lost, and its result is the recorded one', async () => {
    stand = await createStand();
    await stand.fault({ kind: 'drop_response', endpoint: 'runCommand' });
    expect(await run({ commands: [`${counting}; echo told; echo why >&2; exit 3`] })).toMatchObject({
      outcome: 'sandbox_failed',
      error: { code: 'command_failed', message: expect.stringContaining('exited with 3: why') },
    });
    expect(await readFile('runs')).toBe('ran\n');
    expect(await markers()).toEqual([]);
  });

  it('without a place for a marker runs once, and has an unknown outcome if its answer is lost', async () => {
    stand = await createStand(texts(async (text) => text.replaceAll('/tmp/.sandflow', '/proc/none/.sandflow')));
    expect(await run({ commands: [counting, 'test -e runs'] })).toMatchObject({ outcome: 'completed' });
    expect(await readFile('runs')).toBe('ran\n');
    await stand.close();

    let calls = 0;
    stand = await createStand(
      texts(async (text) => {
        calls += 1;
        if (calls === 2) await stand.fault({ kind: 'drop_response', endpoint: 'runCommand' });
        return text.replaceAll('/tmp/.sandflow', '/proc/none/.sandflow');
      }),
    );
    const job = await stand.start({ ...input, commands: [counting, 'cat runs'], onUnknownOutcome: 'wait' });
    const blocked = async () => (await job.query<{ blocked: { step: string } | null }>('progress')).blocked?.step;
    await vi.waitFor(async () => expect(await blocked()).toBe('command'), patient);
    await job.executeUpdate('resolve', { args: [{ action: 'sent' }] });
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    expect(await readFile('runs')).toBe('ran\n');
  });
});
