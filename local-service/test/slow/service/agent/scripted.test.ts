import { describe, expect, it } from 'vitest';
import { createAgents } from '../../../../src/agent/index.js';
import { runAgent } from '../../../service/agent/agent-fixture.js';
import { machine, runningWith, usableIsolations } from '../../../service/machine/machine-fixture.js';

describe.each(usableIsolations)('the scripted agent in a %s sandbox', (isolation) => {
  it('is interrupted at once with its processes', async () => {
    const { host } = await machine(isolation);
    const abort = new AbortController();
    const mark = String(100_000_000 + Math.floor(Math.random() * 800_000_000));
    const prompt = `\`\`\`sh\nsleep ${mark} & sleep ${mark}\n\`\`\`\n`;
    const running = runAgent(createAgents()('codex'), host, prompt, { signal: abort.signal });
    await expect.poll(() => runningWith(mark).length).toBeGreaterThanOrEqual(2);
    const abortedAt = performance.now();
    abort.abort();
    expect((await running).outcome.status).toBe('interrupted');
    // The processes are killed after two seconds if they have not ended before.
    expect(performance.now() - abortedAt).toBeLessThan(1_500);
    expect(runningWith(mark)).toEqual([]);
  });
});
