import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { controlVersion } from '../../../../src/supervisor/control-protocol.js';
import { createStackHome, isAlive, type StackHome } from '../../../setup/stack-harness.js';

describe('one supervisor per home', () => {
  let stack: StackHome;
  beforeEach(() => {
    stack = createStackHome({ TEST_IDLE_MS: '60000' });
  });
  afterEach(() => stack.close());

  const starts = (role: string) => stack.events().filter((event) => event.role === role && event.what === 'started');

  it('gives three clients that start at once the same stack', async () => {
    const handles = await Promise.all([1, 2, 3].map(() => stack.client().ready));
    expect(new Set(handles.map((handle) => JSON.stringify(handle))).size).toBe(1);
    for (const role of ['local', 'worker', 'bridge']) expect(starts(role)).toHaveLength(1);
    expect(handles[0]?.sandboxApiKey).toMatch(/^local_[0-9a-f]{48}$/);
    // Those that lost the election have ended.
    await expect.poll(() => starts('supervisor').filter(({ pid }) => isAlive(pid)).length).toBe(1);
  });

  it('accepts a second client and stays while either is connected', async () => {
    const first = stack.client();
    const one = await first.ready;
    const second = stack.client();
    expect(await second.ready).toEqual(one);
    first.process.kill('SIGINT');
    await first.exited;
    const third = stack.client();
    expect(await third.ready).toEqual(one);
    expect(starts('worker')).toHaveLength(1);
  });

  it('refuses a client with other settings, and says what to do', async () => {
    await stack.client().ready;
    const other = stack.client({ SANDFLOW_TASK_QUEUE: 'another' });
    expect(await other.exited).toBe(1);
    expect(other.stderr()).toMatch(/stack_differs: .*set SANDFLOW_HOME/);
  });

  it('recovers from a corrupt ports file and the state of a dead supervisor', async () => {
    writeFileSync(join(stack.home, 'ports.json'), '{"temporal": "none", ');
    const state = { version: controlVersion, pid: 1, port: 1, token: 'x'.repeat(48) };
    writeFileSync(join(stack.home, 'supervisor.json'), JSON.stringify(state));
    await stack.client().ready;
    expect(starts('worker')).toHaveLength(1);
  });

  it('tells a waiting client which part does not start, with the end of its log, and leaves no process', async () => {
    appendFileSync(join(stack.home, 'worker-fails'), '');
    const client = stack.client();
    expect(await client.exited).toBe(1);
    expect(client.stderr()).toMatch(/child_failed: The worker did not start\. Its log is .*worker\.log/);
    expect(client.stderr()).toContain('the worker was told to fail');
    await expect.poll(() => stack.alive(), { timeout: 15_000 }).toEqual([]);
  });

  it('reports a home that cannot be written', async () => {
    const file = join(stack.home, 'a-file');
    writeFileSync(file, '');
    const client = stack.client({ SANDFLOW_HOME: file });
    expect(await client.exited).toBe(1);
    expect(client.stderr()).toMatch(/home_not_writable: SANDFLOW_HOME .* is not a directory/);
  });
});
