import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectTemporal } from '../../../../src/temporal/connect.js';
import { createStackHome, type StackHome } from '../../../setup/stack-harness.js';

const timeout = 30_000;

describe('a stack', () => {
  let stack: StackHome;
  beforeEach(() => {
    stack = createStackHome({ TEST_IDLE_MS: '60000' });
  });
  afterEach(() => stack.close());

  const pidOf = (role: string) => {
    const pid = stack.pidOf(role);
    if (pid === undefined) throw new Error(`the ${role} has not started`);
    return pid;
  };

  it('ends all its processes with a killed supervisor, and a new stack uses the same addresses', async () => {
    const client = stack.client();
    const before = await client.ready;
    expect(stack.alive()).toHaveLength(5);
    process.kill(pidOf('supervisor'), 'SIGKILL');
    await expect.poll(() => stack.alive(), { timeout: 3_000 }).toEqual([]);
    expect(await client.exited, 'a client notices that its stack is lost').toBe(0);
    expect(await stack.client().ready).toEqual(before);
  });

  it('gives a waiting client a new supervisor if the first one is killed', async () => {
    const client = stack.client();
    await expect.poll(() => stack.pidOf('local'), { timeout }).toBeDefined();
    process.kill(pidOf('supervisor'), 'SIGKILL');
    await client.ready;
    expect(stack.events().filter(({ role, what }) => role === 'supervisor' && what === 'started')).toHaveLength(2);
  });

  it('restarts a part that died, at the same address', async () => {
    const { bridgeUrl = '' } = await stack.client().ready;
    for (const role of ['worker', 'bridge', 'local']) {
      const before = pidOf(role);
      process.kill(before, 'SIGKILL');
      await expect.poll(() => stack.pidOf(role), { timeout }).not.toBe(before);
    }
    await expect.poll(async () => (await fetch(bridgeUrl)).status, { timeout }).toBe(200);
    expect(readFileSync(join(stack.home, 'logs', 'supervisor.log'), 'utf8')).toContain('worker exited');
  });

  it('restarts Temporal at the same address, with its workflows', async () => {
    const { temporalAddress } = await stack.client().ready;
    const client = await connectTemporal({ address: temporalAddress });
    try {
      const options = { taskQueue: 'sandflow', workflowId: 'sf-open', args: [] };
      await client.workflow.start('anything', options);
      const before = stack.temporalPid();
      process.kill(before ?? Number.NaN, 'SIGKILL');
      await expect.poll(() => stack.temporalPid(), { timeout }).not.toBe(before);
      const status = async () =>
        (
          await client.workflow
            .getHandle('sf-open')
            .describe()
            .catch(() => undefined)
        )?.status;
      await expect.poll(async () => (await status())?.name, { timeout }).toBe('RUNNING');
    } finally {
      await client.connection.close();
    }
  });

  it('ends the worker first and its dependencies afterwards', async () => {
    const client = stack.client();
    await client.ready;
    process.kill(pidOf('supervisor'), 'SIGTERM');
    await client.exited;
    await expect.poll(() => stack.alive(), { timeout }).toEqual([]);
    const ended = stack.events().filter(({ what }) => what === 'ended');
    expect(ended.map(({ role }) => role)).toEqual(['worker', 'bridge', 'local', 'supervisor']);
  });
});
