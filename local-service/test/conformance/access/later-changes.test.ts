/** What a limited key asked for is held against its limits again when it is carried out: the world has moved on since. */
import { expect } from 'vitest';
import { rule } from '../rule.js';
import { type Person, scopedKey, startPeople } from '../target/index.js';

const local = { needs: ['local', 'clock'] } as const;
const hourMs = 3_600_000;
const outside = { status: 403, body: { code: 'api_key_sandbox_forbidden' } };

interface Pair {
  readonly ann: Person;
  readonly saved: string;
  /** The sandbox that has the name in the meantime. */
  readonly holder: string;
  readonly advance: (ms: number) => Promise<void>;
}

type KeyOf = (pair: Pair) => Promise<string>;
const keyed =
  (scope: (pair: Pair) => Readonly<Record<string, unknown>>): KeyOf =>
  async (pair) =>
    (await scopedKey(pair.ann, { preset: 'admin', ...scope(pair) })).secret;

/** Keys of which none reaches the holder. */
const limited: Readonly<Record<string, KeyOf>> = {
  'a key for its sandbox': keyed(({ saved }) => ({ sandboxes: [saved] })),
  'a key for its environment': keyed(() => ({ environments: ['inside'] })),
  'a key for both': keyed(({ saved }) => ({ sandboxes: [saved], environments: ['inside'] })),
  'its own credential': async ({ ann, saved }) => {
    const body = { command: 'printf %s "$SANDBOX_API_KEY"' };
    return (await ann.call('POST', `/sandboxes/${saved}/commands`, { body })).body.stdout;
  },
};

/** Keys that reach the holder, too. */
const reaching: Readonly<Record<string, KeyOf>> = {
  'an account key': async ({ ann }) => ann.key,
  'a key without limits of resources': keyed(() => ({})),
  'a key for both sandboxes': keyed(({ saved, holder }) => ({ sandboxes: [saved, holder] })),
  'a key for both environments': keyed(() => ({ environments: ['inside', 'elsewhere'] })),
};

/** What takes the next snapshot. */
const takers: Readonly<Record<string, (pair: Pair) => Promise<unknown>>> = {
  'a stop': ({ ann, saved }) => ann.archive(saved),
  'a fork': ({ ann, saved }) => ann.call('POST', `/sandboxes/${saved}/fork`, { body: {} }),
  'an interval': ({ advance }) => advance(hourMs),
};

async function pairOf(): Promise<Pair> {
  const { ann, local: target } = await startPeople({ timings: { snapshotEveryMs: hourMs } });
  for (const name of ['inside', 'elsewhere']) {
    target.service.setup.createEnvironment({ name, passSandboxCredentials: true }, ann.accountId);
  }
  const holder = await ann.ready({ environment: 'elsewhere' });
  await ann.archive(holder);
  const saved = await ann.ready({ environment: 'inside' });
  return { ann, saved, holder, advance: (ms) => target.service.clock.advance(ms) };
}

const name = (ann: Person, id: string, key: string) =>
  ann.call('PATCH', `/sandboxes/${id}`, { key, body: { snapshotName: 'golden' } });

/** The sandboxes that have a snapshot of this name. */
async function named(ann: Person): Promise<readonly unknown[]> {
  const { snapshots } = (await ann.call('GET', '/snapshots')).body;
  return snapshots.filter((snapshot) => snapshot.name === 'golden').map(({ sandboxId }) => sandboxId);
}

const rules = ['scope.replace-snapshot', 'scope.both-hold', 'scope.sandbox-forbidden'] as const;

for (const [taker, take] of Object.entries(takers)) {
  rule(
    rules,
    `the name of the next snapshot is not taken from a sandbox that its key does not reach: ${taker}`,
    async () => {
      for (const [kind, keyOf] of Object.entries(limited)) {
        const pair = await pairOf();
        const { ann, saved, holder } = pair;
        const key = await keyOf(pair);
        expect((await name(ann, saved, key)).status, kind).toBe(200);
        await name(ann, holder, ann.key);
        expect(await name(ann, saved, key), kind).toMatchObject(outside);
        await take(pair);
        expect(await named(ann), kind).toEqual([holder]);
        const { snapshot } = (await ann.call('GET', `/sandboxes/${saved}/snapshots/latest`)).body;
        expect(snapshot.name, kind).toBeNull();
      }
    },
    local,
  );

  rule(
    rules,
    `the name of the next snapshot is taken by a key that reaches both sandboxes: ${taker}`,
    async () => {
      for (const [kind, keyOf] of Object.entries(reaching)) {
        const pair = await pairOf();
        const { ann, saved, holder } = pair;
        expect((await name(ann, saved, await keyOf(pair))).status, kind).toBe(200);
        await name(ann, holder, ann.key);
        await take(pair);
        expect(await named(ann), kind).toEqual([saved]);
      }
    },
    local,
  );
}

rule(
  rules,
  'the name of the next snapshot is given if it is free again, and the last key that asked for it counts',
  async () => {
    const [first, second] = [await pairOf(), await pairOf()];
    for (const { ann, saved, holder } of [first, second]) {
      const { secret: key } = await scopedKey(ann, { preset: 'admin', sandboxes: [saved] });
      await name(ann, saved, key);
      await name(ann, holder, ann.key);
    }
    await first.ann.call('DELETE', `/sandboxes/${first.holder}`, { headers: { 'x-svc-confirm-delete': first.holder } });
    await name(second.ann, second.saved, second.ann.key);
    for (const { ann, saved } of [first, second]) {
      await ann.archive(saved);
      expect(await named(ann)).toEqual([saved]);
    }
  },
  local,
);

for (const [kind, body, moved] of [
  ['the default', {}, { isDefault: true }],
  ['the name of its environment', { environment: 'inside' }, { name: 'inside' }],
] as const) {
  rule(
    ['scope.both-hold', 'scope.environment-set', 'scope.sandbox-forbidden'],
    `a create that waits for its acceptance makes no sandbox outside the environment of its key, if ${kind} moves`,
    async () => {
      const { ann, local: target } = await startPeople({ timings: { acceptMs: 60_000 } });
      const make = (content: { readonly name: string; readonly isDefault?: boolean }) =>
        String(target.service.setup.createEnvironment(content, ann.accountId).id);
      const inside = make({ name: 'inside', isDefault: true });
      const elsewhere = make({ name: 'elsewhere' });
      const { secret: key } = await scopedKey(ann, { preset: 'admin', environments: ['inside'] });
      target.service.clock.hold();
      const create = () => ann.call('POST', '/sandboxes', { key, body, headers: { 'idempotency-key': 'one' } });
      const both = [create(), create()];
      // The other one waits for the clock, so this one is answered first.
      expect(await Promise.race(both)).toMatchObject({ body: { code: 'idempotency_in_progress' } });
      await ann.call('PUT', `/environments/${inside}`, { body: { name: 'former' } });
      expect((await ann.call('PUT', `/environments/${elsewhere}`, { body: moved })).status).toBe(200);
      await target.service.clock.advance(60_000);
      expect((await Promise.all(both)).filter(({ body: { code } }) => code === outside.body.code)).toHaveLength(1);
      expect((await ann.call('GET', '/sandboxes')).body.sandboxes).toEqual([]);
    },
    local,
  );
}
