import { join } from 'node:path';
import Libsql from 'libsql';
import { expect } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { type LocalTarget, startLocalTarget } from '../target/index.js';

function changeDatabase({ directory }: LocalTarget, statement: string): void {
  const database = new Libsql(join(directory, 'service.db'));
  try {
    database.exec(statement);
  } finally {
    database.close();
  }
}

interface Change {
  readonly type: string;
  readonly stateBefore: string;
  /** Called before the sandbox is created. */
  readonly prepare?: (local: LocalTarget) => Promise<unknown>;
  /** Called after it. */
  readonly begin?: (local: LocalTarget, id: string) => Promise<unknown>;
}

const changes: readonly Change[] = [
  { type: 'sandbox.ready', stateBefore: 'provisioned' },
  { type: 'sandbox.error', stateBefore: 'provisioned', prepare: (local) => local.arm({ kind: 'boot_error' }) },
  {
    type: 'sandbox.archived',
    stateBefore: 'archiving',
    begin: (local, id) => local.call('POST', `/sandboxes/${id}/stop`),
  },
];

for (const { type, stateBefore, prepare, begin } of changes) {
  rule(
    ['events.same-transaction', 'trap.S8'],
    `while the event ${type} cannot be stored, no sandbox changes its state`,
    async () => {
      const receiver = await startReceiver();
      const first = await startLocalTarget();
      await register(first, receiver.url, [type]);
      await first.service.close();
      const refuse = "BEGIN SELECT RAISE(ABORT, 'refused by a test'); END";
      changeDatabase(first, `CREATE TRIGGER refused BEFORE INSERT ON webhook_events ${refuse}`);

      const refusing = await startLocalTarget({ directory: first.directory });
      refusing.service.clock.hold();
      await prepare?.(refusing);
      const id = await refusing.create({ ttlSeconds: null });
      await refusing.service.clock.advance(500);
      await begin?.(refusing, id);
      // Time enough for several attempts, each of which finds that the event cannot be stored.
      await refusing.service.clock.advance(5_000);
      expect((await refusing.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe(stateBefore);
      await refusing.service.close();
      changeDatabase(first, 'DROP TRIGGER refused');

      const accepting = await startLocalTarget({ directory: first.directory });
      await accepting.service.clock.advance(5_000);
      const [event] = await receiver.waitFor(1, { type, sandboxId: id });
      const { state, updatedAt } = (await accepting.call('GET', `/sandboxes/${id}`)).body.sandbox;
      expect([`sandbox.${state}`, updatedAt]).toEqual([type, event?.body.createdAt]);
    },
    { needs: ['clock', 'faults', 'local'] },
  );
}
