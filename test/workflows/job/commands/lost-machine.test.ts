import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SandboxClient } from '../../../../src/client/index.js';
import {
  believesNothing,
  createStand,
  patient,
  type Stand,
  type StandOptions,
  shortTiming,
} from '../../workflow-harness.js';

let stand: Stand;
afterEach(() => stand.close());

/** Somebody does this to the sandbox before its first command reaches the service. */
const meanwhile = (act: (client: SandboxClient, sandboxId: string) => Promise<unknown>): StandOptions => {
  let acted = false;
  return {
    through: (client) => ({
      ...client,
      async runCommand(sandboxId, body, options) {
        if (!acted) await act(client, sandboxId);
        acted = true;
        return client.runCommand(sandboxId, body, options);
      },
    }),
  };
};
const input = { prompts: [], commands: ['echo one'], end: 'keep' } as const;

describe('a job with commands whose sandbox', () => {
  it('was stopped by somebody ends as sandbox_failed, not at its deadline', async () => {
    stand = await createStand(meanwhile((client, id) => client.stopSandbox(id)));
    const result = await (await stand.start(input)).result();
    expect(result).toMatchObject({ outcome: 'sandbox_failed', error: { code: 'sandbox_stopped' } });
  });

  it('was deleted by somebody ends as sandbox_failed after the 404 has outlasted the lag', async () => {
    stand = await createStand(meanwhile((client, id) => client.deleteSandbox(id)));
    const result = await (await stand.start(input)).result();
    expect(result).toMatchObject({ outcome: 'sandbox_failed', error: { code: 'sandbox_gone' } });
    expect(result.durationMs).toBeGreaterThanOrEqual(shortTiming.readLagMs);
  });

  it('seems to be missing or not running for a moment continues', async () => {
    stand = await createStand();
    await stand.fault({ kind: 'error', endpoint: 'runCommand', status: 404, code: 'not_found', times: 2 });
    await stand.fault({ kind: 'error', endpoint: 'runCommand', status: 400, code: 'machine_not_running', times: 1 });
    const job = await stand.start({ ...input, timing: believesNothing });
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
  });

  it('was stopped under a command reports that, and does not blame the command', async () => {
    stand = await createStand();
    const job = await stand.start({ ...input, commands: ['touch began; sleep 600'] });
    const began = async () => {
      const id = stand.service.books.sandboxes()[0]?.id ?? '';
      await stand.api.readFile(id, 'began');
      return id;
    };
    await stand.api.stopSandbox(await vi.waitFor(began, patient));
    expect(await job.result()).toMatchObject({ outcome: 'sandbox_failed', error: { code: 'sandbox_stopped' } });
  });
});
