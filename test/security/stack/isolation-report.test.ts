import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readLocalConfig } from '../../../local-service/src/program/settings-file.js';
import { apiKey, emptyDirectory, startService } from '../../../local-service/test/service/service-under-test.js';
import { readLocalFacts } from '../../../src/cli/connect/local-facts.js';
import { checkIsolation } from '../../../src/cli/doctor/check-local.js';
import { type SandboxIsolation, sayIsolation } from '../../../src/cli/output/isolation.js';
import { createClosing, sendJson, startStand } from '../../unit/client/http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const readIsolation = async (service: Parameters<typeof readLocalFacts>[0]) =>
  (await readLocalFacts(service)).isolation;

describe('the isolation of a local service’s sandboxes', () => {
  it('is requested, printed with its warnings, and checked by doctor', async () => {
    const { service } = await startService({ isolation: 'plain' });
    const isolation = await readIsolation({ apiUrl: service.url, apiKey });
    expect(isolation.known).toEqual(JSON.parse(JSON.stringify(service.isolation)));
    const said: string[] = [];
    sayIsolation(isolation, { notice: (text, weight = 'warning') => void said.push(`${weight}: ${text}`) });
    expect(said).toEqual([
      expect.stringMatching(/^detail: Sandbox isolation: none: sandboxes run as plain processes/),
      expect.stringMatching(/^warning: Sandboxes are NOT isolated/),
    ]);
    expect(checkIsolation(isolation)).toMatchObject({ status: 'warning', mend: expect.stringContaining('bubblewrap') });
  });

  it('is not requested from a remote service, and is not believed if incomplete', async () => {
    const elsewhere = await readIsolation({ apiUrl: 'https://api.example.com/v1', apiKey });
    expect(elsewhere).toEqual({ known: null, problem: null });
    expect(checkIsolation(elsewhere)).toMatchObject({ status: 'skipped' });
    const { service } = await startService();
    const refused = await readIsolation({ apiUrl: service.url, apiKey: 'another' });
    expect(refused).toMatchObject({ known: null, problem: expect.stringContaining('it returned 401') });
  });

  it('is reported as unknown if a service that may be local does not report it', async () => {
    const garbled = closing.keep(await startStand((_, response) => sendJson(response, 200, { ok: true })));
    const answers = [
      await readIsolation({ apiUrl: `${garbled.url}/v1`, apiKey }),
      await readIsolation({ apiUrl: 'http://127.0.0.1:1/v1', apiKey }),
      await readIsolation({ apiUrl: garbled.url, apiKeyFile: '/no/such/key' }),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ known: null, problem: expect.stringContaining('isolates its sandboxes') });
      const said: string[] = [];
      sayIsolation(answer, { notice: (text, weight = 'warning') => void said.push(`${weight}: ${text}`) });
      expect(said).toEqual([`warning: ${answer.problem}`]);
      expect(checkIsolation(answer)).toMatchObject({ status: 'warning' });
    }
    const other = closing.keep(await startStand((_, response) => sendJson(response, 404, { ok: false })));
    expect(await readIsolation({ apiUrl: other.url, apiKey })).toEqual({ known: null, problem: null });
  });

  it('is requested again if the first answer is lost', async () => {
    const { service } = await startService();
    const clock = { now: new Date().toISOString(), held: false };
    let calls = 0;
    const stand = closing.keep(
      await startStand((_, response) => {
        calls += 1;
        if (calls === 1) response.destroy();
        else sendJson(response, 200, { isolation: service.isolation, clock, changedSettings: null });
      }),
    );
    const { known } = await readIsolation({ apiUrl: stand.url, apiKey });
    expect(known?.text).toBe(service.isolation.text);
  });

  it('passes if each sandbox has its own network, and is a warning otherwise unless configured', () => {
    const network = { kind: 'internet' as const, wished: false, allowHost: [] };
    const limits = { memory: 'sandbox' as const, processes: 'sandbox' as const };
    const text = 'bubblewrap';
    const well: SandboxIsolation = { isolation: 'bubblewrap', network, limits, lacks: [], text, warnings: [] };
    const check = (known: SandboxIsolation) => checkIsolation({ known, problem: null });
    expect(check(well)).toMatchObject({ status: 'ok' });
    const without = { ...network, kind: 'none' as const, reason: 'slirp4netns is not installed' };
    expect(check({ ...well, network: without })).toMatchObject({ status: 'warning' });
    expect(check({ ...well, network: { ...without, wished: true } })).toMatchObject({ status: 'ok' });
    expect(check({ ...well, network: { ...network, kind: 'host' } })).toMatchObject({ status: 'warning' });
    const lacks = ['commands can create their own user namespaces'];
    expect(check({ ...well, lacks })).toMatchObject({ status: 'warning', mend: expect.stringContaining('0.8') });
  });
});

describe('the setting `network`', () => {
  async function read(network: unknown) {
    const file = join(await emptyDirectory(), 'local-service.json');
    await writeFile(file, JSON.stringify({ network }));
    return (await readLocalConfig({ path: file, optional: false })).network;
  }

  it('accepts the host network, single ports and networks', async () => {
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
