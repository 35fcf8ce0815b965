import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nameMatches } from '../../../../src/cli/sandboxes/list-sandboxes.js';
import { linesOf } from '../../../../src/cli/sandboxes/show-sandbox.js';
import { aSandbox, createClosing, errorBody, sendJson, startStand } from '../../client/http-harness.js';
import { cli } from '../in-process.js';

const closing = createClosing();
const nowMs = Date.now();
// Ages are relative to this moment, however busy the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: nowMs }));
afterEach(async () => {
  vi.useRealTimers();
  await closing.closeAll();
});

const hourMs = 3_600_000;
const at = (ms: number) => new Date(nowMs + ms).toISOString();
const secretUrl = 'https://d.example/?_token=secret';
const young = {
  ...aSandbox,
  name: 'sf-a-1',
  createdAt: at(-2 * hourMs - 5_000),
  archiveAfter: at(90_500),
  environment: 'web',
  desktopUrl: secretUrl,
  url: secretUrl,
  cost: { since: at(0), seconds: 60, dollars: 0.126 },
};
const old = {
  ...aSandbox,
  id: 'bx_aaaaaaaa',
  name: 'other',
  state: 'archived',
  createdAt: at(-72 * hourMs),
  stop: { id: 'stop_1', status: 'failing', error: 'the disk is full', requestedAt: at(-hourMs) },
};

async function serving(answer: object, status = 200) {
  const stand = closing.keep(await startStand((_, response) => sendJson(response, status, answer)));
  return { stand, env: { SANDBOX_API_URL: stand.url, SANDBOX_API_KEY: 'key_secret' } };
}
const list = () => serving({ ok: true, sandboxes: [old, young] });

describe('sandflow sandboxes', () => {
  it('lists sandboxes, newest first, with age and time until auto-stop', async () => {
    const { stand, env } = await list();
    const { exitCode, stdout, stderr } = await cli(['sandboxes'], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['ID', 'NAME', 'STATE', 'AGE', 'TTL LEFT', 'ENVIRONMENT'],
      ['bx_23456789', 'sf-a-1', 'ready', '2 h', '1 m 30 s', 'web'],
      ['bx_aaaaaaaa', 'other', 'archived', '3 d', ''],
      [''],
    ]);
    expect(stand.seen[0]?.url).toBe('/v1/sandboxes');
  });

  it('requests their cost only on request', async () => {
    const { stand, env } = await list();
    const { stdout } = await cli(['sandboxes', '--cost'], { env });
    expect(stand.seen[0]?.url).toBe('/v1/sandboxes?include=cost');
    expect(stdout).toMatch(/COST\n.*\$0\.13\n/);
  });

  it.each([
    [['--state', 'archived'], ['bx_aaaaaaaa']],
    [
      ['--state', 'archived', '--state', 'ready'],
      ['bx_23456789', 'bx_aaaaaaaa'],
    ],
    [['--name', 'sf-*'], ['bx_23456789']],
    [['--name', 'sf-*', '--state', 'archived'], []],
  ])('%j keeps matching sandboxes', async (args, ids) => {
    const { env } = await list();
    const { stdout } = await cli(['sandboxes', '--json', ...args], { env });
    expect(JSON.parse(stdout).sandboxes.map((one: { id: string }) => one.id)).toEqual(ids);
  });

  it('reports that there are none, or that none match', async () => {
    const { env } = await list();
    expect(await cli(['sandboxes', '--name', 'x'], { env })).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: 'No matching sandboxes found.\n',
    });
    const empty = await serving({ ok: true, sandboxes: [] });
    expect((await cli(['sandboxes'], { env: empty.env })).stderr).toBe('No sandboxes found.\n');
  });

  it.each([[['sandboxes', '--json']], [['sandboxes']]])('%j shows no secret', async (args) => {
    const { env } = await list();
    expect((await cli(args, { env })).stdout).not.toContain('secret');
  });

  it.each([
    [['sandboxes', '--state', 'sleeping'], 'not "sleeping"'],
    [['sandboxes', 'show', 'bx_1'], '"bx_1" is not a sandbox id'],
    [['sandboxes', 'burn'], 'burn'],
  ])('%j exits with 2 before it reads the settings', async (args, message) => {
    const unread = () => Promise.reject(new Error('the settings were read'));
    const { exitCode, stdout, stderr } = await cli(args, { readConfig: unread });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr.replace('Expected 0 arguments but got 1.', 'burn')).toContain(message);
  });
});

describe('sandflow sandboxes show', () => {
  it('prints the details of a sandbox and its stop', async () => {
    const { stand, env } = await serving({ ok: true, sandbox: old });
    const { exitCode, stdout } = await cli(['sandboxes', 'show', old.id], { env });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^state +archived$/m);
    expect(stdout).toMatch(/^created +3 d ago \(/m);
    expect(stdout).toMatch(/^snapshot +none$/m);
    expect(stdout).toMatch(/^last stop +stop_1 failing, requested 1 h ago: the disk is full$/m);
    expect(stdout).not.toContain('undefined');
    expect(stand.seen[0]?.url).toBe(`/v1/sandboxes/${old.id}`);
  });

  it('prints one object without secrets with --json', async () => {
    const { env } = await serving({ ok: true, sandbox: young });
    const { stdout } = await cli(['sandboxes', 'show', young.id, '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ sandbox: { id: young.id, environment: 'web' }, error: null });
    expect(stdout).not.toContain('secret');
  });

  it('exits with 2 if the sandbox does not exist', async () => {
    const { env } = await serving(errorBody(404, 'sandbox_not_found', 'There is none.'), 404);
    const { exitCode, stdout } = await cli(['sandboxes', 'show', young.id, '--json'], { env });
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'sandbox_not_found' } });
  });

  it('reports what is unusual: errors, health, pending files, expired data, auto-stop off', () => {
    const text = (over: object) => new Map(linesOf({ ...young, ...over }, Date.now()));
    expect(text({ state: 'error', error: 'no disk' }).get('state')).toBe('error: no disk');
    expect(text({ health: 'degraded', healthReason: 'firewall' }).get('health')).toBe('degraded: firewall');
    const hydration = { phase: 'images', entriesDone: 1, entriesTotal: 2, percent: 50 };
    expect(text({ hydrated: false, hydration }).get('files')).toBe('still being restored (images, 50 %)');
    expect(text({ dataExpiredAt: '2026-01-01' }).get('snapshot')).toBe('none, data deleted 2026-01-01');
    expect(text({ archiveAfter: null }).get('stops')).toBe('never automatically');
    expect(text({ setupStatus: 'failed', setupError: 'exit 1' }).get('setup')).toBe('failed: exit 1');
  });
});

it('a pattern with signs of another language is refused before anything is asked', async () => {
  const refused = await cli(['sandboxes', '--name', 'sf-{a,b}']);
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--name: "sf-{a,b}" has "{"') });
  expect(['a[1]', 'a1'].filter(nameMatches('a\\[1\\]'))).toEqual(['a[1]']);
});

it('patterns match whole names, and other characters literally', () => {
  expect(['a.b', 'axb'].filter(nameMatches('a.b'))).toEqual(['a.b']);
  expect(['ab', 'a1b', 'a12b', 'a12bc'].filter(nameMatches('a*b'))).toEqual(['ab', 'a1b', 'a12b']);
  expect(['ab', 'a1b'].filter(nameMatches('a?b'))).toEqual(['a1b']);
  expect(nameMatches('*')(undefined)).toBe(true);
});
