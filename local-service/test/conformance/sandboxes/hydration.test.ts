import { expect } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { type LocalTarget, startLocalTarget } from '../target/index.js';

const hydrationMs = 100_000;

const read = async (local: LocalTarget, id: string) => (await local.call('GET', `/sandboxes/${id}`)).body.sandbox;

/** A service with a held clock, and a just resumed sandbox of ten files and one folder. */
async function resumed(): Promise<{ readonly local: LocalTarget; readonly id: string }> {
  const local = await startLocalTarget({ timings: { hydrationMs } });
  local.service.clock.hold();
  const id = await local.create();
  await local.service.clock.advance(1_000);
  const command = 'mkdir folder; for i in $(seq 9); do echo $i > folder/$i; done; echo first > file.txt';
  await local.call('POST', `/sandboxes/${id}/commands`, { body: { command } });
  await local.call('POST', `/sandboxes/${id}/stop`);
  await local.service.clock.advance(1_000);
  return { local, id };
}

async function resume(local: LocalTarget, id: string): Promise<void> {
  await local.call('POST', `/sandboxes/${id}/resume`);
  // Shorter than the boot, so that the copy begins exactly at its end.
  await local.service.clock.advance(4);
}

rule(
  [
    'hydration.required',
    'hydration.phases',
    'hydration.entries-done',
    'hydration.entries-total',
    'hydration.percent',
    'hydration.end-signal',
    'sandbox.hydration-only-on-get',
    'sandbox.hydrated',
  ],
  'the copy passes its phases in order, counts up, and ends with hydrated',
  async () => {
    const { local, id } = await resumed();
    await resume(local, id);
    const steps = [];
    for (let step = 0; step < 20; step++) {
      const { hydrated, hydration, state } = await read(local, id);
      expect({ hydrated, state }).toEqual({ hydrated: false, state: 'ready' });
      expect(Object.keys(hydration ?? {}).sort()).toEqual(['entriesDone', 'entriesTotal', 'percent', 'phase']);
      if (hydration) steps.push(hydration);
      await local.service.clock.advance(hydrationMs / 20);
    }
    const phases = steps.map(({ phase }) => phase);
    expect([...new Set(phases)]).toEqual(['dvol', 'sysdelta', 'images', 'hydrating', 'reconciling']);
    expect(phases.toSorted((a, b) => phases.indexOf(a) - phases.indexOf(b))).toEqual(phases);
    expect(steps[0]).toMatchObject({ entriesDone: 0, entriesTotal: null, percent: null });
    expect(steps.at(-1)).toMatchObject({ entriesTotal: 11, percent: 95 });
    const done = steps.map(({ entriesDone }) => entriesDone);
    expect(done.toSorted((a, b) => a - b)).toEqual(done);
    expect(Math.max(...done)).toBeLessThanOrEqual(11);
    expect(await read(local, id)).toMatchObject({ hydrated: true, hydration: null, hydratedAt: expect.any(String) });
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['hydration.failed-step-retried', 'hydration.phases'],
  'a failed step shows as degraded or stuck, is retried, and the copy ends later',
  async () => {
    const { local, id } = await resumed();
    for (const phase of ['degraded', 'stuck'] as const) {
      await local.arm({ kind: `hydration_${phase}`, ms: 30_000 });
      await resume(local, id);
      await local.service.clock.advance(0.6 * hydrationMs);
      expect((await read(local, id)).hydration).toMatchObject({ phase, percent: 50 });
      await local.service.clock.advance(30_000);
      expect((await read(local, id)).hydration?.phase).toBe('hydrating');
      await local.service.clock.advance(0.2 * hydrationMs);
      expect((await read(local, id)).hydrated).toBe(false);
      await local.service.clock.advance(0.2 * hydrationMs);
      expect((await read(local, id)).hydrated).toBe(true);
      await local.call('POST', `/sandboxes/${id}/stop`);
      await local.service.clock.advance(1_000);
    }
  },
  { needs: ['clock', 'faults', 'local'] },
);

rule(
  'sandbox.hydration-null-when-silent',
  'progress is null if the sandbox does not answer within 1.5 s, and is awaited otherwise',
  async () => {
    const { local, id } = await resumed();
    await resume(local, id);
    await local.arm({ kind: 'hydration_late', ms: 60_000 });
    const asked = performance.now();
    expect(await read(local, id)).toMatchObject({ hydrated: false, hydration: null });
    const waitedMs = performance.now() - asked;
    expect(waitedMs).toBeGreaterThanOrEqual(1_490);
    await local.arm({ kind: 'hydration_late', ms: 1_501 });
    expect((await read(local, id)).hydration).toBeNull();
    await local.arm({ kind: 'hydration_late', ms: 10 });
    expect((await read(local, id)).hydration).toMatchObject({ phase: 'dvol' });
  },
  { needs: ['faults', 'local'] },
);

rule(
  ['hydration.changed-files', 'sandbox.usable-before-hydrated'],
  'a change during the copy is kept when the copy ends',
  async () => {
    const { local, id } = await resumed();
    await resume(local, id);
    await local.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'file.txt', content: 'changed' } });
    await local.service.clock.advance(hydrationMs);
    expect((await read(local, id)).hydrated).toBe(true);
    expect((await local.call('GET', `/sandboxes/${id}/files?path=file.txt`)).body.content).toBe('changed');
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['sandbox.hydrated', 'sandbox.hydrated-at', 'events.hydrated-lazy', 'fork.copies'],
  'a fork hydrates like a resume, and continues at the next start after a stop',
  async () => {
    const { local, id } = await resumed();
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.hydrated']);
    const fork = (await local.call('POST', `/sandboxes/${id}/fork`)).body.sandbox.id;
    await local.service.clock.advance(4);
    expect(await read(local, fork)).toMatchObject({ state: 'ready', hydrated: false, hydratedAt: null });
    await local.call('POST', `/sandboxes/${fork}/stop`);
    await local.call('POST', `/sandboxes/${fork}/resume`);
    await local.service.clock.advance(4);
    expect(await read(local, fork)).toMatchObject({ state: 'ready', hydrated: false, hydration: { phase: 'dvol' } });
    expect(receiver.received).toEqual([]);
    await local.service.clock.advance(hydrationMs);
    expect(await read(local, fork)).toMatchObject({ hydrated: true, hydratedAt: local.service.clock.iso() });
    await receiver.waitFor(1, { type: 'sandbox.hydrated', sandboxId: fork });
  },
  { needs: ['clock', 'local'] },
);
