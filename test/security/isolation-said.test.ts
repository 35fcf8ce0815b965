import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readIsolation, type SandboxIsolation, sayIsolation } from '../../src/cli/connect/isolation.js';
import { checkIsolation } from '../../src/cli/doctor/check-isolation.js';
import { readLocalConfig } from '../../src/cli/serve/local-config.js';
import { apiKey, emptyDirectory, startService } from '../local-service/service-under-test.js';

describe('C3: how sandboxes of a local service are isolated', () => {
  it('is asked of it, said with its warnings, and judged by doctor', async () => {
    const { service } = await startService({ isolation: 'plain' });
    const isolation = await readIsolation({ apiUrl: service.url, apiKey });
    expect(isolation).toEqual(JSON.parse(JSON.stringify(service.isolation)));
    const said: string[] = [];
    sayIsolation(isolation, { notice: (text, weight = 'warning') => void said.push(`${weight}: ${text}`) });
    expect(said).toEqual([
      expect.stringMatching(/^detail: Isolation of sandboxes: none: plain processes/),
      expect.stringMatching(/^warning: Sandboxes are NOT isolated/),
    ]);
    expect(checkIsolation(isolation)).toMatchObject({ status: 'warning', mend: expect.stringContaining('bubblewrap') });
  });

  it('is not asked of a service elsewhere, nor believed of one that does not say it well', async () => {
    expect(await readIsolation({ apiUrl: 'https://api.example.com/v1', apiKey })).toBeNull();
    const { service } = await startService();
    expect(await readIsolation({ apiUrl: service.url, apiKey: 'another' })).toBeNull();
    expect(checkIsolation(null)).toMatchObject({ status: 'skipped' });
  });

  it('is well where each has a network of its own, and warned of where nobody asked for less', () => {
    const network = { kind: 'internet' as const, wished: false, allowHost: [] };
    const limits = { memory: 'sandbox' as const, processes: 'sandbox' as const };
    const well: SandboxIsolation = { isolation: 'bubblewrap', network, limits, text: 'bubblewrap', warnings: [] };
    expect(checkIsolation(well)).toMatchObject({ status: 'ok' });
    const without = { ...network, kind: 'none' as const, reason: 'slirp4netns is not installed' };
    expect(checkIsolation({ ...well, network: without })).toMatchObject({ status: 'warning' });
    expect(checkIsolation({ ...well, network: { ...without, wished: true } })).toMatchObject({ status: 'ok' });
    expect(checkIsolation({ ...well, network: { ...network, kind: 'host' } })).toMatchObject({ status: 'warning' });
  });
});

describe('C1: the setting `network`', () => {
  async function read(network: unknown) {
    const file = join(await emptyDirectory(), 'local-service.json');
    await writeFile(file, JSON.stringify({ network }));
    return (await readLocalConfig(file, false)).network;
  }

  it('takes the network of the host, single ports and networks', async () => {
    const allowed = {
      allowHost: ['127.0.0.1:11434', '[::1]:8080', 'mirror.example:443'],
      allowNetworks: ['10.20.0.0/16'],
    };
    expect(await read('host')).toBe('host');
    expect(await read(allowed)).toEqual(allowed);
    expect(await read({ internet: false })).toEqual({ internet: false });
  });

  it.each([
    ['all'],
    [{ allowHost: ['11434'] }],
    [{ allowHost: ['127.0.0.1:0'] }],
    [{ allowHost: ['127.0.0.1:80', '[::1]:80'] }],
    [{ allowNetworks: ['0.0.0.0/0'] }],
    [{ allowNetworks: ['10.0.0.0/8; link set lo down'] }],
    [{ allowNetworks: ['fd00::/8'] }],
    [{ outgoing: true }],
  ])('refuses %j', async (network) => {
    await expect(read(network)).rejects.toMatchObject({ code: 'bad_usage' });
  });
});
