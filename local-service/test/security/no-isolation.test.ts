import { mkdir } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isolationReport, requireIsolatedAgents } from '../../src/isolation-report.js';
import { createMachineHost } from '../../src/machine/index.js';
import { temporaryDirectory } from '../service/machine/machine-fixture.js';

const command = 'agent --print';

/** The host of a machine without installed programs. */
async function bareHost() {
  const directory = await temporaryDirectory();
  const programPath = `${directory}/nothing`;
  await mkdir(programPath);
  const messages: string[] = [];
  const host = await createMachineHost({ directory, programPath, log: (message) => void messages.push(message) });
  onTestFinished(async () => await host.close());
  return { host, messages };
}

describe('without bubblewrap', () => {
  it('the missing isolation is reported with the reason', async () => {
    const { host, messages } = await bareHost();
    expect(host.description).toMatchObject({ isolation: 'plain', network: { kind: 'host' } });
    expect(messages).toEqual([expect.stringMatching(/it is not installed\. Sandboxes are NOT isolated/)]);
    const { text, warnings } = isolationReport(host.description, {});
    expect(text).toMatch(/^none: sandboxes run as plain processes/);
    expect(warnings).toEqual(messages);
  });

  it('a command agent is refused unless the configuration allows it', async () => {
    const { host } = await bareHost();
    const { description } = host;
    const refusal = requireIsolatedAgents(description, { commandAgents: { codex: { command } } });
    expect(refusal).toMatchObject({ code: 'agent_not_isolated' });
    expect(refusal?.message).toMatch(/codex.*Install bubblewrap, or set "isolation": "plain"/s);
    const allowed = { codex: { command, isolation: 'plain' as const } };
    expect(requireIsolatedAgents(description, { commandAgents: allowed })).toBeUndefined();
    expect(
      requireIsolatedAgents(description, { commandAgents: { codex: { command } }, isolation: 'plain' }),
    ).toBeUndefined();
    const isolated = { ...description, isolation: 'bubblewrap' as const };
    expect(requireIsolatedAgents(isolated, { commandAgents: { codex: { command } } })).toBeUndefined();
  });

  it('a command agent without network is reported as a warning', async () => {
    const { host } = await bareHost();
    const network = { kind: 'none' as const, reason: 'slirp4netns is not installed', wished: false, allowHost: [] };
    const description = { ...host.description, isolation: 'bubblewrap' as const, network };
    const { warnings } = isolationReport(description, { commandAgents: { codex: { command } } });
    expect(warnings.join(' ')).toMatch(/NO network: slirp4netns is not installed.*agents codex have no network/s);
  });
});
