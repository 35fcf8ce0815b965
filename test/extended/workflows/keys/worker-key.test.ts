/** A worker with exactly the actions that docs/security.md lists. Tier: temporal, about 50 s, mostly waits. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workerActions } from '../../../../src/cli/doctor/needed-actions.js';
import { createSandboxClient } from '../../../../src/client/index.js';
import type { ScopeAction } from '../../../../src/contract/endpoints/endpoint.js';
import { endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { works } from '../../../workflows/keys/worker-work.js';
import { createStand, type Stand } from '../../../workflows/workflow-harness.js';

const listed = Object.keys(workerActions) as ScopeAction[];
/** The worker reads its key at each call. */
let key = 'test-key';
const used = new Set<ScopeAction>();
let stand: Stand;
beforeAll(async () => {
  stand = await createStand({
    connect: async (baseUrl) =>
      createSandboxClient({
        baseUrl,
        apiKey: () => key,
        onCall: ({ endpoint }) =>
          endpoint in endpoints && used.add(endpoints[endpoint as keyof typeof endpoints].scope),
      }),
  });
});
afterAll(() => stand.close());

const keyWith = async (actions: readonly ScopeAction[]) =>
  (await stand.api.createApiKey({ name: 'worker', actions: [...actions] })).secret;

describe('a worker with the listed actions', () => {
  beforeAll(async () => {
    key = await keyWith(listed);
  });

  describe.concurrent('', () => {
    it.for(Object.entries(works))('does %s', async ([, work], { expect }) => {
      const run = await work.prepare(stand, 600_000);
      expect(JSON.stringify(await run())).toContain(work.good);
    });
  });

  it('uses each of them, and no other', () => {
    expect([...used].sort()).toEqual([...listed].sort());
  });
});

describe('with one action less', () => {
  const rows = Object.entries(works).flatMap(([name, work]) =>
    work.needs.map((action) => [name, action, work] as const),
  );

  it.each(rows)('%s fails for %s, and says so', async (_, action, work) => {
    const run = await work.prepare(stand, 8_000);
    key = await keyWith(listed.filter((one) => one !== action));
    const ended = JSON.stringify(await run());
    expect(ended).not.toContain(work.good);
    expect(ended).toContain(action);
  });

  it('there is work that fails for each of them', () => {
    expect(new Set(rows.map(([, action]) => action))).toEqual(new Set(listed));
  });
});
