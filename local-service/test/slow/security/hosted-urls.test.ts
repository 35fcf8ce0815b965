/** What a sandbox can do with the hosted URLs of the service. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { askHosted, portUrl } from '../../service/hosted-url.js';
import { usableIsolations } from '../../service/machine/machine-fixture.js';
import { type ServiceUnderTest, startService } from '../../service/service-under-test.js';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Answers `secret` at port 8080 of the sandbox. */
const server = `perl -MIO::Socket::INET -e '
  my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1:8080") or die; open(my $f, ">", "up"); close $f;
  while (my $c = $s->accept) { while (<$c>) { last if $_ eq "\\r\\n" } print $c "HTTP/1.1 200 Ok\\r\\n\\r\\nsecret"; close $c }
' >/dev/null 2>&1 & until [ -e up ]; do sleep 0.02; done`;

const run = async (under: ServiceUnderTest, id: string, command: string) =>
  (await under.call('POST', `/sandboxes/${id}/commands`, { body: { command } })).body.stdout;

/**
 * Gives each path its own raw answer at port 8080. All requests go into the file `seen`. A connection stays open, so
 * that the next request on it is read too.
 */
const rawServer = (answers: Readonly<Record<string, string>>): string => `cat > s.pl <<'END'
  use IO::Socket::INET; $SIG{CHLD} = "IGNORE";
  my %answers = (${Object.entries(answers).map(([path, answer]) => `"${path}" => "${answer}"`)});
  my $s = IO::Socket::INET->new(Listen => 50, LocalAddr => "127.0.0.1:8080") or die; open(my $f, ">", "up"); close $f;
  while (my $c = $s->accept) {
    next if fork; open(my $seen, ">>", "seen"); $seen->autoflush(1); $c->autoflush(1); my $path;
    while (my $line = <$c>) {
      print $seen $line; $path = $1 if $line =~ m{^GET (/[a-z]*)}; print $c $answers{$path} if $line eq "\\r\\n" }
    exit }
END
perl s.pl >/dev/null 2>&1 & until [ -e up ]; do sleep 0.02; done`;
const ok = 'HTTP/1.1 200 Ok\\r\\nContent-Length: 4\\r\\n';

async function hosting(isolation: (typeof usableIsolations)[number], answers: Readonly<Record<string, string>>) {
  const under = await startService({ isolation });
  const id = await under.ready();
  await run(under, id, rawServer(answers));
  const url = portUrl((await under.call('GET', `/sandboxes/${id}`)).body.sandbox.url ?? '', 8080);
  return { under, id, url };
}
const at = (url: URL, path: string): URL => new URL(`${path}${url.search}`, url);

/** Sends requests on one connection, each after an answer to the one before, until the service ends it. */
async function sendAll(url: URL, requests: readonly string[]): Promise<void> {
  const socket = connect(Number(url.port), '127.0.0.1');
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  for (const request of requests) {
    socket.write(request);
    await Promise.race([once(socket, 'data'), closed]);
  }
  socket.end();
  await closed;
}

describe.each(usableIsolations)('a server in a %s sandbox', (isolation) => {
  it('cannot end the service, or keep a caller waiting, with a wrong answer', async () => {
    const { url } = await hosting(isolation, {
      '/phrase': 'HTTP/1.1 200 O\\x01k\\r\\nContent-Length: 4\\r\\n\\r\\nfine',
      '/status': 'HTTP/1.1 099 Ok\\r\\nContent-Length: 4\\r\\n\\r\\nfine',
      '/trailer': `${ok}Trailer: X\\r\\n\\r\\nfine`,
      '/upgrade': 'HTTP/1.1 101 Ok\\r\\nConnection: Upgrade\\r\\nUpgrade: x\\r\\n\\r\\n',
    });
    expect(await askHosted(at(url, '/phrase'))).toMatchObject({ status: 200, text: 'fine' });
    expect((await askHosted(at(url, '/status'))).status).toBe(502);
    expect(await askHosted(at(url, '/trailer'))).toMatchObject({ status: 200, text: 'fine' });
    expect((await askHosted(at(url, '/upgrade'))).status).toBe(502);
  });

  it('never sees the token: not in a Referer, and not after an upgrade that it declines', async () => {
    const { under, id, url } = await hosting(isolation, { '/': `${ok}\\r\\nfine`, '/last': `${ok}\\r\\nfine` });
    const cookie = url.search.slice(1);
    const text = (path: string, more = '') =>
      `GET ${path}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nCookie: a=1;\t${cookie}\r\n${more}\r\n`;
    const upgrade = (to: string) => `Connection: Upgrade\r\nUpgrade: ${to}\r\n`;
    await sendAll(url, [text('/', upgrade('websocket')), text('/')]);
    await sendAll(url, [text('/', upgrade('h2c')), text('/', `Referer: ${url.href}\r\n`), text('/last')]);
    const seen = await run(under, id, 'cat seen');
    expect(seen).toMatch(/Upgrade: websocket/);
    expect(seen).toMatch(/Referer: /);
    expect(seen).toMatch(/GET \/last /);
    expect(seen).not.toContain('_token');
  });

  it('keeps no connection of a caller that left before it was opened', async () => {
    const { under, id, url } = await hosting(isolation, { '/': '', '/last': `${ok}Connection: close\\r\\n\\r\\nfine` });
    for (let count = 0; count < 30; count += 1) {
      const socket = connect(Number(url.port), '127.0.0.1');
      await once(socket, 'connect');
      socket.write(`GET /${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`, () => socket.destroy());
      await once(socket, 'close');
    }
    // Connections are opened in turn.
    expect((await askHosted(at(url, '/last'))).text).toBe('fine');
    const open = 'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n" | grep -cx s.pl';
    // Only the process that listens is left.
    await expect.poll(() => run(under, id, open)).toBe('1\n');
  });
});

describe.skipIf(!usableIsolations.includes('bubblewrap'))('a sandbox that reaches the service', () => {
  it('gets nothing from the hosted URLs of another one, which work from outside', async () => {
    const port = await freePort();
    const network = { internet: false, allowHost: [`127.0.0.1:${port}`] };
    const under = await startService({ isolation: 'bubblewrap', port, network });
    const [own, other] = [await under.ready(), await under.ready()];
    for (const id of [own, other]) await run(under, id, server);
    const urlOf = async (id: string) =>
      portUrl((await under.call('GET', `/sandboxes/${id}`)).body.sandbox.url ?? '', 8080);
    const [ownUrl, otherUrl] = [await urlOf(own), await urlOf(other)];
    expect(await askHosted(otherUrl)).toMatchObject({ status: 200, text: 'secret' });
    const ask = (host: string, search: string) =>
      run(
        under,
        own,
        `perl -MIO::Socket::INET -e 'my $c = IO::Socket::INET->new("127.0.0.1:${port}") or die;
          print $c "GET /${search} HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n"; print <$c>'`,
      );
    // The service is reached, and lets in who has the token.
    expect(await ask(ownUrl.host, ownUrl.search)).toContain('secret');
    for (const search of ['', ownUrl.search, '?_token=', '?_token=sak_1.x']) {
      const answer = await ask(otherUrl.host, search);
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      expect(answer).not.toContain('secret');
    }
  });

  it('sees no process of the service that opens connections to its ports', async () => {
    const under = await startService({ isolation: 'bubblewrap' });
    const id = await under.ready();
    await run(under, id, server);
    const url = portUrl((await under.call('GET', `/sandboxes/${id}`)).body.sandbox.url ?? '', 8080);
    expect((await askHosted(url)).text).toBe('secret');
    const seen = await run(under, id, `cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'`);
    expect(seen).toContain('perl');
    expect(seen).not.toContain('net.connect');
    // It listens at no name in the network of the sandbox.
    expect(await run(under, id, 'cat /proc/net/unix | grep -c @')).toBe('0\n');
  });
});
