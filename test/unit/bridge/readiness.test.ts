import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { createReadiness } from '../../../src/bridge/create-bridge.js';

it('waits no longer than its deadline, although a connection may go on trying', async () => {
  const client = {
    withDeadline: (_: number, run: () => unknown) => run(),
    workflowService: { getSystemInfo: () => new Promise(() => undefined) },
  };
  const readiness = createReadiness(client as unknown as Client, () => ['whsec_test'], { timeoutMs: 10 });
  expect(await readiness.problem()).toBe('Temporal cannot be reached');
});
