import fc from 'fast-check';
import { expect } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget } from '../target/index.js';
import { type Operation, startWalk, walkTimings } from './state-walk.js';

const pick = fc.nat(5);
const operations: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('time' as const), steps: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      fault: fc.constantFrom('none', 'none', 'none', 'cancelled', 'error', 'recovering'),
      ttl: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('fork' as const), pick, fault: fc.constantFrom('none', 'cancelled') }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'stop',
        'failing_stop',
        'resume',
        'prompt',
        'interrupt',
        'finish',
        'error',
        'recover',
        'delete',
      ),
      pick,
    }),
  },
);

rule(
  ['states.no-other-moves', 'states.create-ready-webhook', 'states.enters-error', 'states.recovery', 'events.archived'],
  'no sequence of calls makes a state change outside the table, and each change sends its event',
  async () => {
    const local = await startLocalTarget({ timings: walkTimings });
    const receiver = await startReceiver();
    await register(local, receiver.url, ['sandbox.ready', 'sandbox.error', 'sandbox.archived']);
    local.service.clock.hold();
    const seen = new Set<string>();
    const life: Operation[] = [
      { kind: 'create', fault: 'none', ttl: false },
      { kind: 'time', steps: 4 },
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(operations, { minLength: 5, maxLength: 25 }), async (done) => {
        await fetch(`${local.service.adminUrl}/faults`, {
          method: 'DELETE',
          headers: { authorization: `Bearer ${local.key}` },
        });
        const walk = startWalk(local);
        for (const operation of [...life, ...done]) await walk.perform(operation);
        for (const [sandboxId, types] of walk.events()) {
          await receiver.waitFor(types.length, { sandboxId });
          expect(receiver.of({ sandboxId }).map(({ body }) => body.type)).toEqual(types);
        }
        for (const move of walk.moves) seen.add(move);
      }),
      { numRuns: 12 },
    );
    expect([...seen]).toEqual(expect.arrayContaining(['provisioning → provisioned', 'provisioned → ready']));
  },
  { needs: ['clock', 'faults', 'local'] },
);
