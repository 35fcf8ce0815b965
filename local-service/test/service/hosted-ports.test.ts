/** The ports of sandboxes, at hosted URLs. */
import { once } from 'node:events';
import { Duplex, type Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { askHosted, openHosted, portUrl, upgradeHosted } from './hosted-url.js';
import { usableIsolations } from './machine/machine-fixture.js';
import { apiKey, type ServiceUnderTest, startService } from './service-under-test.js';

/**
 * A server at 127.0.0.1 that echoes the request. It writes its port into the file `port`. `/slow` sends its second half
 * once the file `go` exists; `/upgrade` echoes what comes after the request; `/rude` closes without an answer.
 */
const server = `perl -MIO::Socket::INET -e '
  $SIG{CHLD} = "IGNORE";
  my $s = IO::Socket::INET->new(Listen => 50, LocalAddr => "127.0.0.1") or die;
  open(my $f, ">", "port.new"); print $f $s->sockport; close $f; rename "port.new", "port";
  while (my $c = $s->accept) {
    next if fork; $c->autoflush(1); my $head = ""; my $length = 0;
    while (my $line = <$c>) { last if $line eq "\\r\\n"; $head .= $line; $length = $1 if $line =~ /^content-length: (\\d+)/i }
    my $body = ""; read($c, $body, $length) if $length; $head =~ /^\\S+ (\\S+)/; my $path = $1;
    exit if $path eq "/rude";
    if ($path eq "/upgrade") {
      print $c "HTTP/1.1 101 Ok\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n$head";
      while (sysread($c, my $more, 1000)) { print $c uc $more } exit }
    if ($path eq "/slow") {
      print $c "HTTP/1.1 200 Ok\\r\\n\\r\\nfirst "; select(undef, undef, undef, 0.02) until -e "go"; print $c "second"; exit }
    my $text = $head . $body;
    print $c "HTTP/1.1 203 Fine\\r\\nX-Own: yes\\r\\nSet-Cookie: a=1\\r\\nSet-Cookie: b=2\\r\\nContent-Length: " . length($text) . "\\r\\n\\r\\n$text";
    exit }' >/dev/null 2>&1 &
  until [ -e port ]; do sleep 0.02; done; cat port`;

async function hosting(under: ServiceUnderTest) {
  const id = await under.ready();
  const { body } = await under.call('POST', `/sandboxes/${id}/commands`, { body: { command: server } });
  const port = Number(body.stdout);
  const { sandbox } = (await under.call('GET', `/sandboxes/${id}`)).body;
  return { id, port, machineUrl: sandbox.url ?? '', url: portUrl(sandbox.url ?? '', port) };
}

const at = (url: URL, path: string): URL =>
  new URL(`${url.origin}${path}${url.search.replace(path.includes('?') ? '?' : '', '')}`);
const withoutToken = (url: URL): URL => Object.assign(new URL(url), { search: '' });

describe.each(usableIsolations)('a hosted port of a %s sandbox', (isolation) => {
  it('answers with the token of the sandbox, under both forms of its host name', async () => {
    const { machineUrl, port, url } = await hosting(await startService({ isolation }));
    const headers = { 'x-mine': 'sent', cookie: 'c=3; _token=wrong; d=4' };
    const answer = await askHosted(at(url, '/path?q=1&'), { method: 'POST', headers, body: 'the body' });
    expect(answer).toMatchObject({ status: 203, headers: { 'x-own': 'yes', 'set-cookie': ['a=1', 'b=2'] } });
    const [, token = ''] = url.search.split('=');
    expect(token.length).toBeGreaterThan(40);
    expect(answer.text).toContain('POST /path?q=1 HTTP/1.1');
    expect(answer.text).toMatch(/the body$/);
    expect(answer.text).toContain('x-mine: sent');
    expect(answer.text).toContain('cookie: c=3; d=4');
    expect(answer.text).toContain(`host: ${url.host}`);
    expect(answer.text).not.toContain('_token');
    expect((await askHosted(portUrl(machineUrl, port, 'box-'))).status).toBe(203);
  });

  it('gets the path alone from a client that takes the service for a proxy', async () => {
    const { url } = await hosting(await startService({ isolation }));
    const asked = async (one: URL) => (await askHosted(one, { toProxy: true })).text;
    expect(await asked(at(url, '/path?q=1&'))).toContain('GET /path?q=1 HTTP/1.1');
    expect(await asked(url)).toContain('GET / HTTP/1.1');
  });

  it('shows nothing without the token, with a wrong one, or with that of another sandbox', async () => {
    const under = await startService({ isolation });
    const { url, machineUrl } = await hosting(under);
    const { sandbox: other } = (await under.call('GET', `/sandboxes/${await under.ready()}`)).body;
    const unknown = new URL(url.href.replace(/-[a-z2-9]{8}\.localhost/, '-abcdefgh.localhost'));
    const refused = [
      withoutToken(url),
      new URL(`${url.href}x`),
      new URL(`?_token=`, url),
      new URL(new URL(other.url ?? '').search, url),
      unknown,
      withoutToken(new URL(machineUrl)),
    ];
    const answers = await Promise.all(refused.map((one) => askHosted(one)));
    expect(answers.map(({ status }) => status)).toEqual(refused.map(() => 401));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await Promise.all(refused.map((one) => upgradeHosted(one)))).toEqual(refused.map(() => 401));
    const bearer = { authorization: `Bearer ${apiKey}` };
    expect((await askHosted(withoutToken(url), { headers: bearer })).status).toBe(401);
  });

  it('passes what comes, as it comes', async () => {
    const under = await startService({ isolation });
    const { id, url } = await hosting(under);
    const answer = await openHosted(at(url, '/slow'));
    let text = '';
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const ended = once(answer, 'end');
    await expect.poll(() => text).toBe('first ');
    await under.call('POST', `/sandboxes/${id}/commands`, { body: { command: 'touch go' } });
    await ended;
    expect(text).toBe('first second');
  });

  it('passes a WebSocket, without the token', async () => {
    const { url } = await hosting(await startService({ isolation }));
    const socket = await upgradeHosted(at(url, '/upgrade'), { 'sec-websocket-key': 'abc' });
    if (!(socket instanceof Duplex)) throw new Error(`The upgrade was refused with ${socket}.`);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.write('frames');
    await expect.poll(() => text).toMatch(/FRAMES$/);
    expect(text).toMatch(/^GET \/upgrade HTTP\/1\.1\r\n/);
    expect(text).toContain('sec-websocket-key: abc');
    socket.destroy();
  });

  it('says that nothing answers there, and that a sandbox is stopped', async () => {
    const under = await startService({ isolation });
    const { id, url, machineUrl } = await hosting(under);
    expect(await askHosted(new URL(machineUrl))).toMatchObject({ status: 200, text: expect.stringContaining(id) });
    expect(await askHosted(at(url, '/rude'))).toMatchObject({ status: 502, text: expect.stringContaining('no HTTP') });
    expect((await askHosted(portUrl(machineUrl, 1))).text).toMatch(/Nothing answers on port 1 /);
    expect((await askHosted(portUrl(machineUrl, 65_536))).status).toBe(502);
    expect((await askHosted(portUrl(machineUrl, Number(url.port)))).status).toBe(502);
    await under.archive(id);
    expect(await askHosted(url)).toMatchObject({ status: 503, text: expect.stringContaining('archived') });
    await under.call('POST', `/sandboxes/${id}/resume`);
    await under.reach(id, 'ready', 'idle');
    expect((await askHosted(url)).status).toBe(502);
  });
});

describe('the token of a hosted URL', () => {
  it('becomes a cookie when a browser opens the URL', async () => {
    const { url } = await hosting(await startService());
    const opened = await askHosted(at(url, '//evil.example/a?b=1&'), { headers: { 'sec-fetch-mode': 'navigate' } });
    expect(opened).toMatchObject({ status: 302, headers: { location: '/evil.example/a?b=1' } });
    const [cookie = ''] = opened.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^_token=[^;]+; Path=\/; HttpOnly; SameSite=Lax$/);
    const headers = { cookie: cookie.split(';')[0] ?? '' };
    const shown = await askHosted(withoutToken(url), { headers });
    expect(shown.status).toBe(203);
    expect(shown.text).not.toContain('_token');
  });

  it('stays the cookie when a URL with another one is opened', async () => {
    const { url } = await hosting(await startService());
    const headers = { 'sec-fetch-mode': 'navigate', cookie: url.search.slice(1) };
    const opened = await askHosted(new URL('?_token=old;Domain=localhost', url), { headers });
    expect(opened.headers['set-cookie']).toEqual([`${headers.cookie}; Path=/; HttpOnly; SameSite=Lax`]);
  });

  it('is shown only where one sandbox is read, and only to a key that may host', async () => {
    const under = await startService();
    const { id } = await hosting(under);
    const scoped = async (actions: readonly string[]) => {
      const { body } = await under.call('POST', '/api-keys/scoped', { body: { name: actions.join(), actions } });
      return { authorization: `Bearer ${body.secret}` };
    };
    const urlFor = async (actions: readonly string[]) =>
      (await under.call('GET', `/sandboxes/${id}`, { headers: await scoped(actions) })).body.sandbox.url;
    expect(await urlFor(['sandbox.read'])).not.toContain('_token');
    expect(await urlFor(['sandbox.read', 'host'])).toContain('_token');
    expect((await under.call('GET', '/sandboxes')).text).not.toContain('_token');
    expect((await under.call('PATCH', `/sandboxes/${id}`, { body: { name: 'new' } })).text).not.toContain('_token');
  });

  it('ends with its key, and with its sandbox', async () => {
    const under = await startService();
    const key = await under.call('POST', '/api-keys/scoped', {
      body: { name: 'k', actions: ['sandbox.read', 'host'] },
    });
    const id = await under.ready();
    const urlFor = async (secret: string) => {
      const headers = { authorization: `Bearer ${secret}` };
      return portUrl((await under.call('GET', `/sandboxes/${id}`, { headers })).body.sandbox.url ?? '', 1);
    };
    const [ours, own] = [await urlFor(key.body.secret), await urlFor(apiKey)];
    const statuses = async () => [(await askHosted(ours)).status, (await askHosted(own)).status];
    expect(await statuses()).toEqual([502, 502]);
    const session = { authorization: `Bearer ${under.service.accounts.createSession('acct_local')}` };
    const { apiKey: made } = key.body as unknown as { apiKey: { id: string } };
    expect((await under.call('DELETE', `/api-keys/${made.id}`, { headers: session })).status).toBe(200);
    expect(await statuses()).toEqual([401, 502]);
    await under.call('DELETE', `/sandboxes/${id}`, { headers: { 'x-svc-confirm-delete': id } });
    expect(await statuses()).toEqual([401, 401]);
  });

  it('ends what is still open with it when its key is revoked', async () => {
    const under = await startService();
    const { id, port } = await hosting(under);
    const actions = ['sandbox.read', 'host'];
    const key = await under.call('POST', '/api-keys/scoped', { body: { name: 'k', actions } });
    const headers = { authorization: `Bearer ${key.body.secret}` };
    const { sandbox } = (await under.call('GET', `/sandboxes/${id}`, { headers })).body;
    const url = portUrl(sandbox.url ?? '', port);
    const [stream, socket] = [await openHosted(at(url, '/slow')), await upgradeHosted(at(url, '/upgrade'))];
    if (!(socket instanceof Duplex)) throw new Error(`The upgrade was refused with ${socket}.`);
    const closeOf = (one: Readable) =>
      new Promise((resolve) => one.on('error', () => undefined).once('close', resolve));
    const ended = Promise.all([closeOf(stream.resume()), closeOf(socket.resume())]);
    const session = { authorization: `Bearer ${under.service.accounts.createSession('acct_local')}` };
    const { apiKey: made } = key.body as unknown as { apiKey: { id: string } };
    expect((await under.call('DELETE', `/api-keys/${made.id}`, { headers: session })).status).toBe(200);
    await ended;
    expect(stream.complete).toBe(false);
  });

  it('is in no log and in no book of calls', async () => {
    const lines: string[] = [];
    const under = await startService({ log: (message, fields) => void lines.push(message, JSON.stringify(fields)) });
    const { url } = await hosting(under);
    await askHosted(url);
    await askHosted(at(url, '/rude'));
    const books = await under.call('GET', '/books', { admin: true });
    const [, token = ''] = url.search.split('=');
    expect(books.text.length).toBeGreaterThan(100);
    expect(`${books.text}${lines.join('\n')}`).not.toContain(token);
  });
});

describe('the API of the service', () => {
  it('answers a client that asks for HTTP/2 by an upgrade', async () => {
    const { service } = await startService();
    const url = new URL(`${service.url}/sandboxes`);
    const headers = { authorization: `Bearer ${apiKey}`, connection: 'Upgrade, HTTP2-Settings' };
    const h2c = { ...headers, upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQ' };
    expect(await askHosted(url, { headers: h2c })).toMatchObject({ status: 200 });
    const create = { method: 'POST', headers: { ...h2c, 'content-type': 'application/json' }, body: '{}' };
    expect(await askHosted(url, create)).toMatchObject({ status: 202 });
    expect(await upgradeHosted(url)).toBe(401);
  });
});
