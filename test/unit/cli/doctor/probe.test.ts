/**
 * `doctor --probe` against the local service behind a proxy: many planted differences at once, ends at each write, the
 * budget and the consent. Each difference alone, and an end at each call, are in test/extended/cli/probe.test.ts.
 * Gate; costs some 25 CPU s.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DeviationName } from '../../../../local-service/src/deviations/deviations.js';
import { probes } from '../../../../src/cli/doctor/probe/probes.js';
import { assumptions } from '../../../../src/contract/assumptions.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { apiKey, idsOf, livingIn, probed, proxyOf, quick, startService } from './probe-stand.js';

const secret = 'tok_4f9a0c7712de48ab';
/** Of these, each is found beside the others. */
const together: readonly DeviationName[] = [
  ...([
    'A-header-family',
    'A-create-fields',
    'A-request-form.uuid-keys',
    'A-created-by',
    'A-idempotency-body',
  ] as const),
  ...(['A-auto-stop-renewal', 'A-model-names', 'A-prompt-record', 'A-event-ids', 'A-paging', 'A-stop-answer'] as const),
  ...(['A-stop-read', 'A-deletion-operation', 'A-deleted-key', 'A-limits'] as const),
];
const idOf = (name: string) => name.split('.')[0] ?? '';

describe('doctor --probe', () => {
  it('refutes nothing at a service that does what the register says, and names every assumption once', async () => {
    const service = await startService();
    const { exitCode, findings, left, stderr, error } = await probed((await proxyOf(service)).url);
    expect(error).toBeUndefined();
    expect(idsOf(findings, 'refuted')).toEqual([]);
    expect(
      idsOf(
        findings.filter(({ id }) => id in probes),
        'not tried',
      ),
    ).toEqual(['A-webhook-record', 'delivery']);
    const named = findings.map(({ id }) => id).filter((id) => !/^(clock|key|delivery)$/.test(id));
    expect(named.toSorted()).toEqual(Object.keys(assumptions).toSorted());
    expect({ exitCode, left, living: livingIn(service) }).toEqual({ exitCode: 0, left: [], living: [] });
    expect(stderr).toContain('at most two small sandboxes at a time, for at most ten minutes');
    expect(service.books.prompts()).toHaveLength(1);
    expect(findings.find(({ id }) => id === 'key')?.why).toMatch(
      /used sandbox\.create, .*agent\.prompt.*\. The key also has account\.read, .*\. The key is not restricted/,
    );
  });

  it('finds differences that come together, says what follows, and tells no secret and no content', async () => {
    const service = await startService(together);
    const stand = await proxyOf(service, () => ({
      answer(shown) {
        Object.assign(shown.body, { url: `https://a.example/?_token=${secret}`, envContents: `TOKEN=${secret}` });
      },
    }));
    const hook = { name: 'n', url: `http://127.0.0.1:9/?token=${secret}`, events: ['sandbox.ready'] };
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const registered = { method: 'POST', headers, body: JSON.stringify(hook) };
    expect((await fetch(`${service.url}/webhooks`, registered)).status).toBe(201);
    const { exitCode, stdout, stderr, records } = await probed(stand.url, { json: false });
    const refuted = together.map(idOf);
    for (const id of refuted) expect(stdout).toMatch(new RegExp(`^refuted +${id} .*\\n {34}\\S`, 'm'));
    expect(stdout.match(/^refuted .*/gm)).toHaveLength(refuted.length);
    for (const mend of ['deletes need SANDBOX_API_HEADER_PREFIX=x-box-', 'creates need SANDBOX_API_UUID_KEYS=true'])
      expect(stdout).toContain(mend);
    expect(stdout).toMatch(/^confirmed +A-environment-list +\(listEnvironments 200\)$/m);
    expect(stdout).toMatch(/^not tried +There is no probe \(.*\): .*A-desktop /m);
    expect(stdout).toMatch(/^Deleted, and seen to be gone: bx_\w{8}, bx_\w{8}/m);
    expect(exitCode).toBe(1);
    expect(livingIn(service)).toEqual([]);
    expect(records).toMatchObject([{ mode: 0o600 }]);
    expect(JSON.parse(records[0]?.text ?? '')).toMatchObject({
      deviations: expect.arrayContaining([...together]),
      settings: { SANDBOX_API_HEADER_PREFIX: 'x-box-', SANDBOX_API_UUID_KEYS: 'true' },
    });
    for (const text of [stdout, stderr, ...records.map((one) => one.text)]) {
      for (const hidden of [secret, apiKey, 'Answer with', 'Somebody Else']) expect(text).not.toContain(hidden);
    }
  });

  it('stops and names what it may not delete, and deletes it once the setting is right', async () => {
    const service = await startService(['A-header-family']);
    const stand = await proxyOf(service, () => ({
      answer({ body }) {
        for (const one of [body, body.error as typeof body | undefined]) delete one?.message;
      },
    }));
    const home = await temporaryDirectory();
    const first = await probed(stand.url, { home, within: { ...quick, cleanUpMs: 300 } });
    expect(idsOf(first.findings, 'refuted')).toEqual(['A-header-family']);
    expect(first.left.toSorted()).toEqual(livingIn(service).toSorted());
    expect(first.left).toHaveLength(2);
    expect(service.books.sandboxes().map(({ state }) => state)).not.toContain('ready');
    const env = { SANDBOX_API_HEADER_PREFIX: 'X-Box-' };
    await probed(stand.url, { home, env, within: { ...quick, probesMs: 1 } });
    expect(livingIn(service)).toEqual([]);
  });

  it.each([[], ['A-create-fields' as const]])(
    'leaves nothing after an end at each write and a second run (%s)',
    async (...deviations) => {
      const service = await startService(deviations);
      const isWrite = /^POST \/v1\/sandboxes(\/\w+\/fork)?$|^DELETE/;
      for (let last = 1; ; last += 1) {
        let [writes, isDead] = [0, false];
        const stand = await proxyOf(service, () => ({
          request: () => (isDead ? undefined : {}),
          answer(_, { method, url }) {
            if (isWrite.test(`${method} ${url}`)) writes += 1;
            // The service has taken the request, and its answer is lost.
            isDead ||= writes === last;
            return isDead ? 'close' : undefined;
          },
        }));
        const home = await temporaryDirectory();
        // A dead service is given up soon.
        const env = { SANDFLOW_PATIENCE_SECONDS: '1' };
        await probed(stand.url, { home, env, within: { ...quick, cleanUpMs: 20 } });
        const wasReached = isDead;
        [writes, isDead] = [Number.NEGATIVE_INFINITY, false];
        const { left, records } = await probed(stand.url, { home, within: { ...quick, probesMs: 1 } });
        expect({ last, left, living: livingIn(service) }).toEqual({ last, left: [], living: [] });
        expect(records).toHaveLength(1);
        if (!wasReached) break;
      }
    },
  );

  it('forgets no lost create because its repeat is refused', async () => {
    const service = await startService(['A-create-fields']);
    let [creates, isFull] = [0, true];
    const stand = await proxyOf(service, () => ({
      answer(shown, { method, url }) {
        if (method !== 'POST' || !url.endsWith('/sandboxes')) return undefined;
        creates += 1;
        if (creates === 1) return 'close';
        if (isFull) Object.assign(shown, { status: 429, body: { ok: false, code: 'limit_reached', message: 'no' } });
        return undefined;
      },
    }));
    const home = await temporaryDirectory();
    const first = await probed(stand.url, { home, within: { ...quick, cleanUpMs: 2_000 } });
    const key = expect.stringMatching(/^what a create with the key sandflow-probe-/);
    expect({ exitCode: first.exitCode, left: first.left }).toEqual({ exitCode: 1, left: [key] });
    expect(livingIn(service)).toHaveLength(1);
    const again = await probed(stand.url, { home, within: { ...quick, probesMs: 1, cleanUpMs: 2_500 } });
    expect(again.left).toEqual([key]);
    isFull = false;
    const { left } = await probed(stand.url, { home, within: { ...quick, probesMs: 1 } });
    expect({ left, living: livingIn(service) }).toEqual({ left: [], living: [] });
  });

  it('takes the header of deletes from a refusal with any code', async () => {
    const service = await startService(['A-header-family', 'A-confirmation']);
    const { findings, left } = await probed(service.url);
    expect(idsOf(findings, 'refuted')).toEqual(['A-header-family']);
    expect({ left, living: livingIn(service) }).toEqual({ left: [], living: [] });
  });

  it('writes each create down before it is sent, and its id before the next call', async () => {
    const service = await startService();
    const home = await temporaryDirectory();
    const record = () =>
      JSON.parse(readFileSync(join(home, 'probes', readdirSync(join(home, 'probes'))[0] ?? ''), 'utf8'));
    const [before, after]: [unknown[], unknown[]] = [[], []];
    let created: string | undefined;
    const stand = await proxyOf(service, () => ({
      request({ method, url, headers }) {
        if (created !== undefined) after.push(Object.keys(record().sandboxes).includes(created));
        created = undefined;
        if (method !== 'POST' || !/\/sandboxes(\/\w+\/fork)?$/.test(url)) return {};
        const { key, id } = record().attempts.at(-1);
        before.push(key === headers['idempotency-key'] && id === undefined);
        return {};
      },
      answer({ status, body }) {
        if (status === 202 && body.sandbox) created = (body.sandbox as { id: string }).id;
      },
    }));
    await probed(stand.url, { home });
    expect(before).toEqual([true, true, true, true, true]);
    expect(after).toEqual([true, true, true, true]);
  });

  it('deletes what it made after Ctrl-C, and says so', async () => {
    const service = await startService();
    const ctrlC = new AbortController();
    const stand = await proxyOf(service, () => ({
      answer(_, { url }) {
        if (url.endsWith('/prompt')) ctrlC.abort('SIGINT');
      },
    }));
    const { error, context, stdout, records } = await probed(stand.url, { interrupted: ctrlC.signal });
    expect(error).toBe('SIGINT');
    expect(context.undone).toBe('deleted what it made');
    expect(livingIn(service)).toEqual([]);
    expect(stdout).toBe('');
    expect(records.map(({ text }) => JSON.parse(text).findings.at(-1).id)).toEqual(['A-webhook-retry']);
    expect(records[0]?.text).toContain('"why": "interrupted"');
  });

  it('never has more than two sandboxes, also at a service that ignores keys', async () => {
    const service = await startService();
    let most = 0;
    const stand = await proxyOf(service, () => ({
      request: ({ headers: { 'idempotency-key': _, ...headers } }) => ({ headers }),
      answer() {
        most = Math.max(most, livingIn(service).length);
      },
    }));
    const { findings, left } = await probed(stand.url);
    expect(most).toBe(2);
    expect(idsOf(findings, 'refuted')).toEqual(['A-idempotency-body', 'A-deleted-key']);
    expect(findings.find(({ id }) => id === 'A-fork')?.why).toBe('there are two sandboxes already');
    expect({ left, living: livingIn(service) }).toEqual({ left: [], living: [] });
  });

  it('ends in its time, and deletes what it made then', async () => {
    const service = await startService();
    const stand = await proxyOf(service, () => ({
      answer({ body }) {
        if (body.sandbox) Object.assign(body.sandbox, { state: 'provisioning' });
      },
    }));
    const { findings, left } = await probed(stand.url, { within: { ...quick, probesMs: 2_000 } });
    expect(idsOf(findings, 'refuted')).toEqual([]);
    const late = findings.filter(({ why }) => why === 'the time of the probe was over').map(({ id }) => id);
    expect(late).toEqual(expect.arrayContaining(['A-files', 'A-prompt-id', 'A-fork', 'A-stop-answer']));
    expect({ left, living: livingIn(service) }).toEqual({ left: [], living: [] });
  });

  it('writes a record with which a local service does the same', async () => {
    const deviations = ['A-header-family', 'A-stop-answer', 'A-events.newest-first'] as const;
    const first = await probed((await startService(deviations)).url);
    const record = JSON.parse(first.records[0]?.text ?? '') as { readonly deviations: readonly DeviationName[] };
    expect(record.deviations.toSorted()).toEqual(deviations.toSorted());
    const again = await probed((await startService(record.deviations)).url);
    expect(idsOf(again.findings, 'refuted')).toEqual(idsOf(first.findings, 'refuted'));
    expect(again.findings.map(({ id, verdict }) => [id, verdict])).toEqual(
      first.findings.map(({ id, verdict }) => [id, verdict]),
    );
  });

  it('creates nothing with a key that may not delete', async () => {
    const service = await startService();
    const stand = await proxyOf(service, () => ({
      answer(shown, { method }) {
        if (method === 'DELETE') Object.assign(shown, { status: 403, body: { ok: false, code: 'forbidden' } });
      },
    }));
    const { exitCode, findings } = await probed(stand.url);
    expect(exitCode).toBe(0);
    expect(findings.find(({ id }) => id === 'A-request-form')?.why).toBe('the answer is 403 forbidden');
    expect(findings.find(({ id }) => id === 'A-limits')?.verdict).toBe('confirmed');
    expect(service.books.sandboxes()).toEqual([]);
  });

  it('asks first: without a terminal and --yes, and with options that do not fit, it does nothing', async () => {
    const service = await startService();
    const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: apiKey };
    for (const [words, text] of [
      [['--probe'], 'costs machine time and a prompt. Confirm with --yes'],
      [['--yes'], '--yes requires --probe'],
      [['--probe', '--yes', '--bridge', 'http://127.0.0.1:9'], 'not both'],
    ] as const) {
      const { exitCode, stderr } = await cli(['doctor', ...words], { env });
      expect(exitCode).toBe(2);
      expect(stderr).toContain(text);
    }
    expect(service.books.calls()).toEqual([]);
  });
});
