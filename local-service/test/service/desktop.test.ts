/** The desktop of a sandbox, and its URLs. A browser sees it in `test/slow/service/desktop`. */
import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { findDesktop } from '../../src/machine/desktop/find-desktop.js';
import { lacks, openDesktop, webSocket } from './desktop-fixture.js';
import { askHosted, upgradeHosted } from './hosted-url.js';
import { startService } from './service-under-test.js';

const title = `a desktop${lacks.length === 0 ? '' : ` (skipped: no ${lacks.join(', ')})`}`;

/** What the VNC server says first, or the status of a refusal. */
async function greeting(url: URL, headers: Readonly<Record<string, string>> = {}): Promise<string | number> {
  const socket = await upgradeHosted(url, { ...webSocket, ...headers });
  if (!(socket instanceof Duplex)) return socket;
  const [first] = await socket.setEncoding('latin1').take(1).toArray();
  socket.destroy();
  return String(first);
}
const bare = (url: URL): URL => Object.assign(new URL(url), { search: '' });
const vncGreeting = '\x82\x0cRFB 003.008\n';

describe.skipIf(lacks.length > 0)(title, () => {
  it('is streamed to the holder of its token, from no page of others', async () => {
    const under = await startService({ isolation: 'bubblewrap' });
    const id = await under.ready();
    const read = async () => (await under.call('GET', `/sandboxes/${id}`)).body.sandbox;
    expect(await read()).toMatchObject({ desktopAvailable: true, desktopUrl: null });
    const page = await openDesktop(under, id);
    expect((await read()).desktopUrl).toBe(page.href);
    expect((await under.call('GET', '/sandboxes')).body.sandboxes).toMatchObject([{ desktopUrl: null }]);
    expect(await askHosted(page)).toMatchObject({ status: 200, text: expect.stringContaining('<title>Desktop') });
    expect((await askHosted(bare(page))).status).toBe(401);

    const stream = await openDesktop(under, id, '?vnc=1');
    expect(stream).toMatchObject({ protocol: 'ws:', host: page.host, search: page.search });
    expect(await greeting(stream)).toBe(vncGreeting);
    expect(await greeting(stream, { origin: `http://${page.host}` })).toBe(vncGreeting);
    expect(await greeting(stream, { origin: 'http://evil.example' })).toBe(404);
    expect(await greeting(bare(stream))).toBe(401);
    const { url: machineUrl } = await read();
    stream.search = new URL(machineUrl ?? '').search;
    expect(await greeting(stream)).toBe(401);

    const commands = (await under.call('GET', `/sandboxes/${id}/processes`)).text;
    expect(commands).toContain('Xvnc :1');
    await under.archive(id);
    expect(await read()).toMatchObject({ desktopAvailable: false, desktopUrl: null });
    expect((await askHosted(page)).status).toBe(503);
  });

  it('needs no token once it is public, until it is closed again or ends', async () => {
    const under = await startService({ isolation: 'bubblewrap' });
    const id = await under.ready();
    const stream = await openDesktop(under, id, '', { publicAccess: true });
    expect(stream).toMatchObject({ protocol: 'ws:', search: '' });
    expect(await greeting(stream)).toBe(vncGreeting);
    expect(await greeting(stream, { origin: 'http://evil.example' })).toBe(404);
    await openDesktop(under, id);
    expect(await greeting(stream)).toBe(vncGreeting);
    await openDesktop(under, id, '', { publicAccess: false });
    expect(await greeting(stream)).toBe(401);
  });

  it('is refused like after the stop if the sandbox is stopped while it starts', async () => {
    const under = await startService({ isolation: 'bubblewrap', timings: { archiveMs: 0 } });
    for (const hasBegun of [false, true]) {
      const id = await under.ready();
      const opening = under.call('POST', `/sandboxes/${id}/desktop`);
      const processes = async () => (await under.call('GET', `/sandboxes/${id}/processes`)).text;
      if (hasBegun) await expect.poll(processes, { interval: 1 }).toContain('Xvnc :1');
      await under.archive(id);
      const answer = await opening;
      // The desktop may be faster than the stop.
      if (answer.status !== 200) expect(answer).toMatchObject({ status: 400, body: { code: 'machine_not_running' } });
    }
  });

  it('gives DISPLAY to the commands that start after it, and starts again after its end', async () => {
    const under = await startService({ isolation: 'bubblewrap' });
    const id = await under.ready();
    const run = async (command: string) =>
      (await under.call('POST', `/sandboxes/${id}/commands`, { body: { command } })).body.stdout;
    expect(await run('echo "[$DISPLAY]"')).toBe('[]\n');
    await Promise.all([openDesktop(under, id), openDesktop(under, id)]);
    expect(await run('echo "[$DISPLAY]"')).toBe('[:1]\n');
    await run('cd /proc; for p in [0-9]*; do grep -q ^Xvnc $p/cmdline && kill -9 $p; done');
    await expect.poll(() => run('echo "[$DISPLAY]"')).toBe('[]\n');
    const stream = await openDesktop(under, id, '?vnc=1');
    expect(await greeting(stream)).toBe(vncGreeting);
    // Without its window manager, it is no desktop either.
    await run('cd /proc; for p in [0-9]*; do grep -qx openbox $p/comm && kill -9 $p; done');
    await expect.poll(() => run('echo "[$DISPLAY]"')).toBe('[]\n');
    expect(await greeting(await openDesktop(under, id, '?vnc=1'))).toBe(vncGreeting);
  });
});

it('names the packages that a desktop needs', async () => {
  expect(await findDesktop({ programPath: '', viewer: '/nowhere', hasOwnNetwork: true })).toEqual({
    missing: ['tigervnc-standalone-server', 'openbox', 'novnc'],
  });
});
