import { readdir, rm } from 'node:fs/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { executionOf } from '../../../../../src/addresses/addresses.js';
import type { SandboxClient } from '../../../../../src/client/index.js';
import type { JobInput } from '../../../../../workflows/index.js';
import {
  createStand,
  letGo,
  patient,
  type Stand,
  type StandOptions,
  untilGo,
} from '../../../../workflows/workflow-harness.js';

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
const begun = (path: string) => vi.waitFor(() => readFile(path), patient);
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
  it('has a marker below /tmp with a name of its own: sandbox, execution, step, generation and a random part', async () => {
    const names = new Set<string>();
    stand = await createStand(
      texts(async (text) => {
        const [, name] = /^sandflow_d=\/tmp\/\.sandflow-(.+)$/m.exec(text) ?? [];
        if (name !== undefined) names.add(name);
        return text;
      }),
    );
    const handle = await stand.start({ ...input, commands: ['true', 'true'] });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    const owner = `${sandboxId()}-${executionOf(handle.firstExecutionRunId)}`;
    const random = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
    expect([...names]).toEqual([0, 1].map((step) => expect.stringMatching(`^${owner}-${step}-1-${random}$`)));
    const inputs = ((await handle.fetchHistory()).events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.input?.payloads ?? [],
    );
    const recorded = inputs.map(({ data }) => Buffer.from(data ?? []).toString()).join('\n');
    for (const name of names) expect(recorded).toContain(`"name":"${name}"`);
  });

  it('that runs while its worker shuts down is awaited by the next one', async () => {
    stand = await createStand();
    const job = await stand.start({ ...input, commands: [`${counting}; ${untilGo}; echo end > ended`, 'cat ended'] });
    await begun('runs');
    await stand.restartWorker();
    await letGo(stand, sandboxId());
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    expect(await readFile('runs')).toBe('ran\n');
    expect(await markers()).toEqual([]);
  });

  it('that the service accepts late, after it was looked for, runs once', async () => {
    stand = await createStand();
    await stand.fault({ kind: 'accept_late', endpoint: 'runCommand', ms: 3_000 });
    expect(await run()).toMatchObject({ outcome: 'completed' });
    // The late command has arrived by now.
    await expect.poll(() => stand.service.books.calls().filter(isCommand).length).toBeGreaterThanOrEqual(3);
    expect(await readFile('runs')).toBe('ran\n');
  });

  it('whose answer was lost before its job continued as new runs once, and is found', async () => {
    let calls = 0;
    // Reads of its marker are refused, so that a run ends between the command and its result.
    const refusal = { kind: 'error', endpoint: 'runCommand', status: 429, code: 'rate_limited', times: 2 } as const;
    stand = await createStand(
      texts(async (text) => {
        calls += 1;
        if (calls === 2) await stand.fault(refusal);
        return text;
      }),
    );
    await stand.fault({ kind: 'drop_response', endpoint: 'runCommand' });
    const job = await stand.start({ ...input, commands: [counting, 'test -e runs'], maxHistoryEvents: 20 });
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    expect(await readFile('runs')).toBe('ran\n');
    expect((await job.describe()).runId).not.toBe(job.firstExecutionRunId);
  });

  it('whose sandbox has an unknown state since is found, because its stops are the same', async () => {
    stand = await createStand({
      through: (client) => ({
        ...client,
        async getSandbox(id, options) {
          const answer = await client.getSandbox(id, options);
          const { sandbox } = answer;
          const sent = stand.service.books.calls().some(isCommand);
          return sent ? { ...answer, sandbox: { ...sandbox, state: 'defrosting' } } : answer;
        },
      }),
    });
    await stand.fault({ kind: 'drop_response', endpoint: 'runCommand' });
    expect(await run()).toMatchObject({ outcome: 'completed' });
    expect(await readFile('runs')).toBe('ran\n');
  });

  it('whose sandbox was stopped and resumed since has an unknown outcome, and the policy decides', async () => {
    let sent = 0;
    stand = await createStand(
      texts(async (text, client, id) => {
        sent += 1;
        if (sent === 2) {
          await client.stopSandbox(id);
          const state = async (wanted: string) =>
            vi.waitFor(async () => expect((await client.getSandbox(id)).sandbox.state).toBe(wanted), patient);
          await state('archived');
          await client.resumeSandbox(id, {});
          await state('ready');
        }
        return text;
      }),
    );
    await stand.fault({ kind: 'drop_response', endpoint: 'runCommand' });
    expect(await run()).toMatchObject({ outcome: 'outcome_unknown', error: { code: 'outcome_unknown' } });
    expect(await readFile('runs')).toBe('ran\n');
  });

  it.each(['keep', 'stop'] as const)('that is run again on request is named as left with the end %s', async (end) => {
    let calls = 0;
    stand = await createStand(
      texts(async (text) => {
        calls += 1;
        if (calls === 2) await stand.fault({ kind: 'drop_response', endpoint: 'runCommand' });
        return text.replaceAll('/tmp/.sandflow', '/proc/none/.sandflow');
      }),
    );
    const commands = [counting, 'test "$(wc -l < runs)" -eq 2'];
    const { outcome, left } = await run({ commands, end, onUnknownOutcome: 'resend' });
    expect(outcome).toBe('completed');
    // A stop ends whatever still runs.
    expect(left).toMatchObject(end === 'keep' ? [{ kind: 'command', sandboxId: sandboxId() }] : []);
  });
});

const isCommand = ({ endpoint }: { readonly endpoint: string | null }) => endpoint === 'runCommand';
