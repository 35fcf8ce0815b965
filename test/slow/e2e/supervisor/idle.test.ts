import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/config.js';
import { connectTemporal } from '../../../../src/temporal/connect.js';
import { type EmbeddedServer, startEmbeddedServer } from '../../../../src/temporal-server/embedded.js';
import { findTemporalServer } from '../../../../src/temporal-server/find.js';
import { createStackHome, type StackHome } from '../../../setup/stack-harness.js';

const timeout = 30_000;
const logOf = ({ home }: StackHome) => readFileSync(join(home, 'logs', 'supervisor.log'), 'utf8');

describe('an idle stack', () => {
  let stack: StackHome;
  beforeEach(() => {
    stack = createStackHome({ TEST_IDLE_MS: '800' });
  });
  afterEach(() => stack.close());

  it('ends when its last client leaves, and leaves no process', async () => {
    const client = stack.client();
    await client.ready;
    await client.leave();
    await expect.poll(() => stack.alive(), { timeout }).toEqual([]);
    expect(logOf(stack)).toContain('nothing left to do');
  });

  it('ends when its last client is killed', async () => {
    const client = stack.client();
    await client.ready;
    client.process.kill('SIGKILL');
    await expect.poll(() => stack.alive(), { timeout }).toEqual([]);
    expect(logOf(stack)).toContain('nothing left to do');
  });

  it('stays for an open job without any client, and ends with it', async () => {
    const client = stack.client();
    const { temporalAddress } = await client.ready;
    const temporal = await connectTemporal({ address: temporalAddress });
    try {
      await temporal.workflow.start('anything', { taskQueue: 'sandflow', workflowId: 'sf-open', args: [] });
      await client.leave();
      // Several times the idle time of this stack.
      const until = Date.now() + 4_000;
      await expect.poll(() => Date.now() > until, { timeout }).toBe(true);
      expect(stack.alive()).toHaveLength(5);
      await temporal.workflow.getHandle('sf-open').terminate();
      await expect.poll(() => stack.alive(), { timeout }).toEqual([]);
    } finally {
      await temporal.connection.close();
    }
  });

  it('does not end in the foreground', async () => {
    const client = stack.client({ TEST_FOREGROUND: '1' });
    await client.ready;
    await client.leave();
    const until = Date.now() + 3_000;
    await expect.poll(() => Date.now() > until, { timeout }).toBe(true);
    expect(stack.alive()).toHaveLength(5);
  });
});

describe('a stack with configured parts', () => {
  let stack: StackHome;
  let temporal: EmbeddedServer;
  beforeEach(async () => {
    stack = createStackHome({ TEST_IDLE_MS: '60000' });
    const binary = await findTemporalServer(readConfig());
    temporal = await startEmbeddedServer({ binary, logFile: join(stack.home, 'other-temporal.log') });
  });
  afterEach(async () => {
    await stack.close();
    await temporal.stop();
  });

  it('starts neither Temporal nor a local service if both are configured, and no bridge without a secret', async () => {
    const configured = {
      TEMPORAL_ADDRESS: temporal.address,
      SANDBOX_API_URL: 'http://127.0.0.1:9/v1',
      SANDBOX_API_KEY: 'a-key',
    };
    const client = stack.client(configured);
    const { temporalAddress, sandboxApiUrl, sandboxApiKey, bridgeUrl } = await client.ready;
    expect({ temporalAddress, sandboxApiUrl, sandboxApiKey, bridgeUrl }).toEqual({
      temporalAddress: temporal.address,
      sandboxApiUrl: 'http://127.0.0.1:9/v1',
      sandboxApiKey: 'a-key',
      bridgeUrl: undefined,
    });
    expect(stack.temporalPid()).toBeUndefined();
    expect(stack.events().map(({ role }) => role)).toEqual(['supervisor', 'worker']);
    expect(client.stderr()).toContain('no webhook secret found');
  });
});
