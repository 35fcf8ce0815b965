/** What a sandbox can do with the hosted URLs of the service. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { askHosted, portUrl } from '../../local-service/hosted-url.js';
import { usableIsolations } from '../../local-service/machine/machine-fixture.js';
import { type ServiceUnderTest, startService } from '../../local-service/service-under-test.js';

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
