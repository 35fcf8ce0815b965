/** Sandboxes in which nothing was started. Tier: gate, a second. */
import { expect, it, vi } from 'vitest';
import * as table from '../../../src/machine/processes/table.js';
import { machine, ownSandboxId, usableIsolations } from '../machine/machine-fixture.js';

vi.mock(import('../../../src/machine/processes/table.js'), { spy: true });

it.each(usableIsolations)('are deleted without a search for their processes (%s)', async (isolation) => {
  const { host } = await machine(isolation);
  const searches = vi.mocked(table.readProcessTable).mock.calls;
  const before = searches.length;
  await host.deleteDisk(ownSandboxId);
  expect(searches).toHaveLength(before);
  await host.createDisk(ownSandboxId);
  await host.run(ownSandboxId, { command: 'true' });
  await host.deleteDisk(ownSandboxId);
  expect(searches.length).toBeGreaterThan(before);
});
