import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAsk, createServiceReads } from '../../../../src/cli/connect/ask-service.js';
import { checkService } from '../../../../src/cli/connect/check-service.js';
import { failureOf } from '../../../../src/cli/errors.js';
import { anySignal } from '../../../../src/os/any-signal.js';
import { aSandbox, createClosing, errorBody, rejectionOf, sendJson, startStand } from '../../client/http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

type Fault = (response: ServerResponse) => void;
const page = (status: number) => (response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': 'text/html' }).end('<html>a proxy</html>');
const me = (response: ServerResponse) => sendJson(response, 200, { ok: true, user: { id: 'u', login: 'ann' } });

/** Temporary failures. */
const faults: Readonly<Record<string, Fault>> = {
  'a 502 of a proxy': page(502),
  'a 401 of a proxy': page(401),
  'a 503 of the service': (response) => sendJson(response, 503, errorBody(503, 'http_500')),
  'a 429': (response) => sendJson(response, 429, errorBody(429, 'rate_limited'), { 'retry-after': '0.1' }),
  'a 409': (response) => sendJson(response, 409, errorBody(409, 'account_not_ready')),
  garbage: (response) => void response.writeHead(200).end('{"ok": tr'),
  'a good answer of something else': (response) => sendJson(response, 200, { hello: 'world' }),
  'a redirect': (response) => void response.writeHead(308, { location: 'https://new.example/v1' }).end(),
  'a dropped answer': (response) => void response.destroy(),
};

/** @param patienceMs by default longer than any test takes */
async function answering(answer: (index: number) => Fault, patienceMs = 300_000) {
  let count = 0;
  const stand = closing.keep(await startStand((_, response) => answer(count++)(response)));
  const notices: string[] = [];
  const stop = new AbortController();
  const asking = { signal: stop.signal, notice: (text: string) => void notices.push(text) };
  const sandboxService = { apiUrl: stand.url, apiKey: 'key_secret' };
  // Each start is a process, and has a signal of its own.
  const check = () => checkService({ sandboxService, patienceMs }, { ...asking, signal: anySignal([stop.signal]) });
  const reads = () =>
    createServiceReads(closing.client(stand), createAsk({ apiUrl: stand.url, patienceMs, ...asking }));
  return { stand, check, reads, notices, stop };
}

/** The patience of a command that sees each answer 25 s after the one before: three answers, however fast the machine is. */
const threeAnswersMs = 60_000;

/** Holds the clock. With each answer it advances by 25 s. */
function late(answer: Fault): Fault {
  let nowMs = Date.now();
  vi.setSystemTime(nowMs);
  onTestFinished(() => void vi.useRealTimers());
  return (response) => {
    nowMs += 25_000;
    vi.setSystemTime(nowMs);
    answer(response);
  };
}

describe('the initial requests of a command', () => {
  it.each(Object.entries(faults))('fail in none of 50 starts if every tenth answer is %s', async (_, fault) => {
    const { stand, check } = await answering((index) => (index % 10 === 3 ? fault : me));
    const logins = await Promise.all(Array.from({ length: 50 }, check));
    expect(logins).toEqual(Array.from({ length: 50 }, () => 'ann'));
    expect(stand.seen.length, 'faults came').toBeGreaterThan(54);
  });

  it('fail in none of 50 starts if two of five answers are faults of every kind', async () => {
    const kinds = Object.values(faults);
    const { check } = await answering((index) => (index % 5 < 2 ? (kinds[index % kinds.length] ?? me) : me));
    const logins = await Promise.all(Array.from({ length: 50 }, check));
    expect(logins).toEqual(Array.from({ length: 50 }, () => 'ann'));
  });

  it.each(Object.entries(faults))('are repeated after %s', async (_, fault) => {
    const { stand, check } = await answering((index) => (index === 0 ? fault : me));
    expect(await check()).toBe('ann');
    expect(stand.seen).toHaveLength(2);
  });

  it.each([
    ['a 401', 401, 'unauthorized', 'rejects the key (401 unauthorized). Set SANDBOX_API_KEY'],
    ['an expired key', 403, 'api_key_expired', 'rejects the key (403 api_key_expired)'],
    ['a 402', 402, 'billing_required', "refuses requests because of the account's billing"],
    ['a suspension', 403, 'org_suspended', 'has suspended the organization'],
  ])('report %s at once with its cause', async (_, status, code, text) => {
    const body = errorBody(status, code, 'Mend it.', { url: 'https://example.com/mend' });
    const { stand, check } = await answering(() => (response) => sendJson(response, status, body));
    const error = await rejectionOf(check());
    expect(failureOf(error)).toMatchObject({ exitCode: 2, error: { code, status, requestId: 'req_1' } });
    const { message, details } = failureOf(error).error;
    expect(message).toContain(text);
    expect(message).toContain('See https://example.com/mend');
    expect(message).not.toContain('cannot be reached');
    expect(details).toMatchObject({ url: 'https://example.com/mend' });
    expect(stand.seen).toHaveLength(1);
  });

  it.each([
    ['a 502 of a proxy', 'not_the_service', 'another server answers at its address'],
    ['a 401 of a proxy', 'not_the_service', 'another server answers at its address'],
    ['garbage', 'not_the_service', 'another server answers at its address'],
    ['a good answer of something else', 'not_the_service', '`ok` of its response is not true'],
    ['a redirect', 'not_the_service', 'redirects getMe to https://new.example'],
    ['a 503 of the service', 'http_500', 'answers with errors for'],
    ['a 429', 'rate_limited', 'throttles this key for'],
    ['a 409', 'account_not_ready', 'is not ready for'],
    ['a dropped answer', 'service_unreachable', 'cannot be reached for'],
  ])('exit with 3 if %s lasts, with its cause', async (kind, code, text) => {
    const fault = late(faults[kind] ?? me);
    const { stand, check } = await answering(() => fault, threeAnswersMs);
    const { exitCode, error } = failureOf(await rejectionOf(check()));
    expect({ exitCode, code: error.code }).toEqual({ exitCode: 3, code });
    expect(error.message).toContain(text);
    if (code !== 'service_unreachable') expect(error.message).not.toContain('cannot be reached');
    expect(stand.seen).toHaveLength(3);
  });

  it.each([
    ['rate_limited', { 'retry-after': '900' }],
    ['daily_limit_reached', {}],
  ])('report %s that cannot pass in time as throttled at once', async (code, headers: Record<string, string>) => {
    const { stand, check } = await answering(
      () => (response) => sendJson(response, 429, errorBody(429, code), headers),
    );
    const { exitCode, error } = failureOf(await rejectionOf(check()));
    expect({ exitCode, code: error.code }).toEqual({ exitCode: 3, code });
    expect(error.message).toContain('throttles this key');
    expect(stand.seen).toHaveLength(1);
  });

  it('accept a key that may not read the account, and reject an address without /me', async () => {
    const refused = (status: number, code: string) =>
      answering(() => (response) => sendJson(response, status, errorBody(status, code)));
    expect(await (await refused(403, 'api_key_action_forbidden')).check()).toBeNull();
    expect(failureOf(await rejectionOf((await refused(404, 'not_found')).check()))).toMatchObject({
      exitCode: 2,
      error: { code: 'bad_configuration', message: expect.stringContaining('No Sandbox Service found at') },
    });
  });

  it('show a wait after a moment with its reason, and Ctrl-C ends it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { stand, check, notices, stop } = await answering((index) => (index === 0 ? page(503) : () => undefined));
    const checking = rejectionOf(check());
    await expect.poll(() => stand.seen.length).toBe(2);
    vi.advanceTimersByTime(2_000);
    expect(notices).toEqual([
      expect.stringMatching(/does not answer \(The answer was 503 .*retrying for up to 5 m\. Press Ctrl-C to stop\.$/),
    ]);
    // No time limit of the call ends it: the timers stand still.
    stop.abort('SIGINT');
    expect(await checking).toBe('SIGINT');
    expect(stand.seen).toHaveLength(2);
  });

  it('end at Ctrl-C during a pause, however long it is', async () => {
    // The service asks for a pause that is longer than the test may take.
    const busy: Fault = (response) => sendJson(response, 503, errorBody(503, 'http_500'), { 'retry-after': '1800' });
    const { stand, check, notices, stop } = await answering(() => busy, 3_600_000);
    const checking = rejectionOf(check());
    await expect.poll(() => notices).toHaveLength(1);
    stop.abort('SIGINT');
    expect(await checking).toBe('SIGINT');
    expect(stand.seen).toHaveLength(1);
  });

  it('report a service that accepts the call and does not answer', async () => {
    const { check, notices, stop } = await answering(() => () => undefined);
    const checking = rejectionOf(check());
    await expect.poll(() => notices).toHaveLength(1);
    stop.abort('SIGINT');
    expect(await checking).toBe('SIGINT');
  });

  it('complete a long list even if every other page fails: each page has its own attempts', async () => {
    const kinds = Object.values(faults);
    const { reads } = await answering((index) => (response) => {
      if (index % 2 === 0) return kinds[index % kinds.length]?.(response);
      const number = (index + 1) / 2;
      const sandboxes = [{ ...aSandbox, id: `bx_${String(number + 1_000).replace(/[01]/g, 'a')}2345`.slice(0, 11) }];
      sendJson(response, 200, { ok: true, sandboxes, nextCursor: number < 12 ? `${number}` : null });
    });
    expect((await reads().listAllSandboxes()).length).toBeGreaterThan(5);
  });

  it('do not repeat a list that says that it has more, and tell it at once', async () => {
    const { stand, reads } = await answering(
      () => (response) => sendJson(response, 200, { ok: true, sandboxes: [aSandbox], total: 5 }),
    );
    const { exitCode, error } = failureOf(await rejectionOf(reads().listAllSandboxes()));
    expect({ exitCode, code: error.code }).toEqual({ exitCode: 3, code: 'list_incomplete' });
    expect(error.message).toContain('`total` says that there are more');
    expect(stand.seen).toHaveLength(1);
  });

  it('share one patience for all reads of a command until the service answers', async () => {
    const fault = late(page(502));
    const { stand, reads } = await answering(() => fault, threeAnswersMs);
    const asked = reads();
    await rejectionOf(asked.getMe());
    expect(stand.seen).toHaveLength(3);
    await rejectionOf(asked.listWebhooks());
    expect(stand.seen, 'none is repeated').toHaveLength(4);
  });
});
