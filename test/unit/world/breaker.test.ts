import { expect, it } from 'vitest';
import { brokenBreakers } from '../../world/oracle/breaker.js';
import type { WorldRecord } from '../../world/oracle/record.js';
import type { AlikePlan } from '../../world/plan/plan.js';

interface Played {
  readonly whenHeld?: AlikePlan['whenHeld'];
  /** How many items had started at each hold. */
  readonly holds?: readonly number[];
  readonly hold?: object;
  readonly started?: number;
  readonly completed?: number;
  readonly trouble?: object;
}

/** A batch of nine items, of which two run at once and three failures hold it: four may start. */
function isBroken({ whenHeld = 'mend', holds = [4], hold, started = 9, completed = 5, trouble }: Played): boolean {
  const told = { by: 'breaker', code: 'check_not_started', count: 3, ...hold };
  const record = {
    plan: {
      jobs: [{ kind: 'batch', key: 'j1', items: 9, concurrency: 2, alike: { by: 'check', breaker: 3, whenHeld } }],
      troubles: trouble ? [{ key: 't1', at: { job: 'j1' }, ...trouble }] : [],
    },
    struck: new Set(['t1']),
    told: [
      {
        ...{ job: 'j1', workflowId: 'sf-world-j1' },
        holds: holds.map((at) => ({ ...told, started: at })),
        jobs: Array.from({ length: completed }, () => ({ outcome: 'completed' })),
      },
    ],
    traces: { forks: [] },
    // The second generation of an item is no second item. Names count items in base 36.
    books: {
      sandboxes: Array.from({ length: started + 1 }, (_, at) => ({
        id: `bx_${at}`,
        name: `sf-world-j1-4bb9474fd862-i${((at % started) + 5).toString(36)}-${at < started ? 1 : 2}`,
      })),
    },
    calls: [],
  };
  return brokenBreakers(record as unknown as WorldRecord).length > 0;
}

it.each<[string, Played, boolean]>([
  ['is held in time, and completes the others once it is mended', {}, false],
  ['starts an item too many', { holds: [5], completed: 4 }, true],
  ['is never held', { holds: [], completed: 0 }, true],
  ['is held by another failure', { hold: { code: 'prompt_failed' } }, true],
  ['is held by too few failures', { hold: { count: 2 } }, true],
  ['does not go on when it is asked to', { started: 4, completed: 0 }, true],
  ['goes on as it is, and is held again', { whenHeld: 'go_on', holds: [4, 7], completed: 0 }, false],
  ['starts too many after it went on', { whenHeld: 'go_on', holds: [4, 9], completed: 0 }, true],
  ['is cancelled', { whenHeld: 'cancel', started: 4, completed: 0 }, false],
  ['starts an item after its cancel', { whenHeld: 'cancel', started: 5, completed: 0 }, true],
  ['meets a trouble, which ends a row of failures', { holds: [6], trouble: { kind: 'wire' } }, false],
])('a batch whose items fail alike %s', (_, played, broken) => {
  expect(isBroken(played)).toBe(broken);
});
