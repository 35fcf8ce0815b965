/** Everything that a worker does with the service. Each piece of work returns how it ended, with its errors. */
import { expect, vi } from 'vitest';
import type { ScopeAction } from '../../../src/contract/endpoints/endpoint.js';
import { parseEscalation } from '../../../src/protocol/escalation.js';
import { sweepPolicy } from '../../../src/retention/index.js';
import { startCleanup } from '../../../src/workflow-client/cleanups/cleanup-client.js';
import type { JobInput } from '../../../workflows/index.js';
import { clean, cleaned, policyFor } from '../cleanup/cleanup-harness.js';
import { archivedSandbox, fanoutInput, items, lines, run as runBatch, source } from '../fanout/fanout-harness.js';
import { progressOf } from '../job-progress.js';
import { steps } from '../stop/escalation-harness.js';
import { ask, outcomeOf, readySandbox } from '../stop/stop-harness.js';
import { deployment, patient, type Stand, script, shortTiming } from '../workflow-harness.js';

export interface Work {
  /** The actions without which it does not end well. */
  readonly needs: readonly ScopeAction[];
  /** A part of the text of a good end. */
  readonly good: string;
  /**
   * Makes what it works on, with the key of the test.
   * @param deadlineMs how long work may take that ends badly only at a deadline
   * @returns runs it; resolves with how it ended
   */
  readonly prepare: (stand: Stand, deadlineMs: number) => Promise<() => Promise<unknown>>;
}

let count = 0;
function unique(prefix: string): string {
  count += 1;
  return `${prefix}${count}`;
}

/** A job that ends without an error, leaves nothing, collects all and says nothing about its auto-stop. */
const goodJob = '{"outcome":"completed","error":null,"left":[],"autoStop":null,"uncollected":[]}';

/** Also returns what its progress says about the auto-stop, which no result tells. */
const job = (inputFor: (stand: Stand) => Partial<JobInput> | Promise<Partial<JobInput>>) => async (stand: Stand) => {
  const input = await inputFor(stand);
  return async () => {
    const handle = await stand.start({ maxGenerations: 1, ...input });
    let autoStop: unknown = null;
    for (let phase = ''; phase !== 'ended'; ) {
      const progress = await progressOf(handle);
      phase = progress.phase;
      autoStop ??= progress.autoStop ?? null;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const { outcome, error, left, files } = await handle.result();
    return { outcome, error, left, autoStop, uncollected: files.flatMap((file) => file.error ?? []) };
  };
};

export const works: Readonly<Record<string, Work>> = {
  'a job with files and commands': {
    needs: ['sandbox.create', 'sandbox.read', 'sandbox.stop', 'agent.prompt', 'exec', 'file.read', 'file.write'],
    good: goodJob,
    prepare: job(() => ({
      put: [{ path: 'in.txt', content: { base64: Buffer.from('in').toString('base64') } }],
      commands: ['cat in.txt'],
      prompts: [{ prompt: script('cp in.txt out.txt') }],
      collect: ['out.txt'],
    })),
  },
  'a job that works for longer than its auto-stop': {
    needs: ['sandbox.update'],
    good: goodJob,
    prepare: job(() => ({ prompts: [{ prompt: script('sleep 4') }], ttlSeconds: 6 })),
  },
  'a job that resumes a sandbox': {
    needs: ['sandbox.resume'],
    good: goodJob,
    prepare: job(async (stand) => ({ source: { kind: 'existing', sandboxId: await archivedSandbox(stand) } })),
  },
  'a job in a fork that it deletes': {
    needs: ['sandbox.fork', 'sandbox.delete'],
    good: goodJob,
    prepare: job(async (stand) => ({
      source: { kind: 'fork', sandboxId: await archivedSandbox(stand) },
      end: 'delete',
    })),
  },
  'a batch': {
    needs: ['sandbox.fork'],
    good: '"byOutcome":{"completed":2}},"error":null,"left":[]',
    async prepare(stand) {
      const input = fanoutInput(source(await archivedSandbox(stand)), { policy: { end: 'delete' } });
      return async () => {
        const result = await runBatch(stand, input, items(2));
        const { counts, error, left } = result;
        return { counts, error, left, lines: result.resultsRef === null ? [] : await lines(stand, result) };
      };
    },
  },
  'a stop': {
    needs: ['sandbox.stop'],
    good: '"outcome":"archived"',
    async prepare(stand) {
      const sandboxId = await readySandbox(stand);
      return async () => outcomeOf(stand, await ask(stand, { sandboxId }));
    },
  },
  'a stop with an escalation': {
    needs: ['sandbox.delete'],
    good: '"outcome":"deleted"',
    async prepare(stand, deadlineMs) {
      const sandboxId = await readySandbox(stand);
      await failingStop(stand, sandboxId);
      return async () => outcomeOf(stand, await ask(stand, { sandboxId, escalate: steps('1s: delete'), deadlineMs }));
    },
  },
  'a cleanup of sandboxes': {
    needs: ['sandbox.read', 'sandbox.delete'],
    good: '"deleted":1',
    async prepare(stand) {
      const name = unique('cleaned');
      await archivedAs(stand, `${name}-1`);
      return async () => clean(stand, policyFor(name, 'delete-sandbox'));
    },
  },
  'a cleanup of snapshots': {
    needs: ['snapshot.read', 'snapshot.write'],
    good: '"deleted":1',
    async prepare(stand) {
      const name = unique('snapped');
      const id = await archivedAs(stand, `${name}-1`);
      await stand.api.updateSandbox(id, { snapshotName: `${name}-old` });
      // The newest snapshot is kept, and there is no other without a change.
      await stand.api.resumeSandbox(id);
      await inState(stand, id, 'ready');
      await stand.api.writeFile(id, { path: 'changed', content: 'since' });
      await stand.api.stopSandbox(id);
      await inState(stand, id, 'archived');
      return async () => clean(stand, policyFor(name, 'delete-snapshot', '', `    snapshotName: ${name}-*`));
    },
  },
  'a sweep': {
    needs: ['sandbox.delete'],
    good: '"deleted":1',
    async prepare(stand, actionDeadlineMs) {
      const name = unique('swept');
      const sandboxId = await readySandbox(stand, { name });
      await failingStop(stand, sandboxId);
      await stand.api.stopSandbox(sandboxId);
      await vi.waitFor(async () => {
        const { stop } = (await stand.api.getSandbox(sandboxId)).sandbox;
        expect(stop?.status).toBe('failing');
        expect(Date.now() - Date.parse(stop?.requestedAt ?? '')).toBeGreaterThan(1_000);
      }, patient);
      return async () => {
        const escalate = parseEscalation('1s: delete', { mayDelete: true });
        const policy = sweepPolicy({ escalate, failingForMs: 1, name });
        const settings = { settleMs: 0, actionDeadlineMs, timing: { ...shortTiming, readLagMs: 1_000 } };
        const { client, taskQueue } = stand;
        const handle = await startCleanup(client, { deployment, taskQueue, policy, mode: 'apply', settings });
        return cleaned(stand, await handle.result());
      };
    },
  },
};

const failingStop = (stand: Stand, sandboxId: string) => stand.fault({ kind: 'stop_fails', sandboxId, times: 100_000 });

/** Not expect.poll, which cannot find its test among concurrent ones. */
async function inState(stand: Stand, sandboxId: string, state: string): Promise<void> {
  const look = async () => expect((await stand.api.getSandbox(sandboxId)).sandbox.state).toBe(state);
  await vi.waitFor(look, patient);
}

async function archivedAs(stand: Stand, name: string): Promise<string> {
  const id = await readySandbox(stand, { name });
  await stand.api.stopSandbox(id);
  await inState(stand, id, 'archived');
  return id;
}
