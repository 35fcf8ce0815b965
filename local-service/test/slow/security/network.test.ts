import { mkdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMachineHost } from '../../../src/machine/index.js';
import { readOwnNetworks } from '../../../src/machine/network/routes.js';
import { defaultProgramPath, findProgram } from '../../../src/machine/program.js';
import { attackedHost, isRoot, neighbourId, ownSandboxId, processMark, whyNot } from '../../security/attacked-host.js';
import { descendantsOf, isAlive } from '../../security/descendants.js';
import { runningWith, temporaryDirectory, usableIsolations } from '../../service/machine/machine-fixture.js';
import { openResolver } from './name-resolver.js';
import { openService, reachedFrom } from './reach.js';

const bubblewrap = usableIsolations.includes('bubblewrap');
const internet = bubblewrap && (await hasInternet());
const users = ['root', 'a plain user'] as const;

/** The addresses at which a service on this machine may be reached, from it or from slirp4netns and pasta. */
function addressesOfTheHost(): string[] {
  const six = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).filter(({ family }) => family === 'IPv6'),
  );
  return [
    ...['127.0.0.1', '127.1.2.3', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1', 'fd00::2', 'fd00::3', 'fe80::2%tap0'],
    ...['10.0.2.2', '10.0.2.3', '10.0.2.15', '10.0.2.100', '10.0.2.255', '255.255.255.255', '192.168.0.1'],
    ...['169.254.169.254', '169.254.1.1', '169.254.2.2', '100.100.100.200', 'fd00:ec2::254'],
    ...readOwnNetworks().map((network) => network.split('/')[0] ?? ''),
    ...six.map(({ address }) => address),
  ];
}

const publicAddress = '1.1.1.1';
/** Of metadata services, containers and neighbours. */
const internalAddresses = [
  ...['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254'],
  ...['10.0.2.2', '10.1.2.3', '100.64.0.1', '172.17.0.1', '192.168.1.1', '198.18.0.1', '224.0.0.251'],
];

describe.skipIf(!bubblewrap).each(users)('the network of a sandbox of %s', (user) => {
  it.skipIf(whyNot(user))('reaches no listener of the host through any address, and no internal address', async () => {
    const port = await openService();
    const host = await attackedHost(user);
    const { reached } = await reachedFrom(host, ownSandboxId, [...new Set(addressesOfTheHost())], port);
    expect(reached).toEqual([]);
    if (host.network.kind !== 'internet') return;
    // Where nothing answers, only the route shows whether it would be reached.
    const routes = [publicAddress, ...internalAddresses].map(
      (address) => `ip route get ${address} >/dev/null 2>&1 && echo "ROUTE TO ${address}"`,
    );
    expect((await host.run(ownSandboxId, routes.join('\n'))).stdout).toBe(`ROUTE TO ${publicAddress}\n`);
  });

  it.skipIf(whyNot(user))('reaches no abstract socket of the host', async () => {
    const name = `sandflow-attacked-${process.pid}-${user.replaceAll(' ', '-')}`;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('secret');
    });
    await new Promise<void>((resolve) => server.listen({ path: `\0${name}` }, () => resolve()));
    onTestFinished(() => void server.close());
    const host = await attackedHost(user);
    // Node pads the name with NUL to the full length of the address.
    const connect = 'connect(S, pack("Sa$_", 1, "\\0$ARGV[0]")) and print "REACHED"';
    const attack = `perl -MSocket -e 'for (107, 108) { socket(S, PF_UNIX, SOCK_STREAM, 0); ${connect} } print "tried"' ${name}`;
    expect((await host.run(ownSandboxId, attack)).stdout).toBe('tried');
  });

  it.skipIf(whyNot(user))('is shared by all commands of the sandbox, and by no other sandbox', async () => {
    const host = await attackedHost(user);
    const serve =
      'perl -MIO::Socket::INET -e \'$s = IO::Socket::INET->new(LocalAddr => "0.0.0.0:8123", Listen => 5) or die; while ($c = $s->accept) { print $c "mine\\n"; close $c }\'';
    void host.run(ownSandboxId, `${serve}; :`).catch(() => undefined);
    const own = async () => (await reachedFrom(host, ownSandboxId, ['127.0.0.1'], 8123)).reached;
    await expect.poll(own).toEqual([expect.stringContaining('REACHED 127.0.0.1 tcp')]);
    const neighbours = ['127.0.0.1', '10.0.2.100', '10.0.2.2', '10.0.2.15', ...addressesOfTheHost().slice(-3)];
    expect((await reachedFrom(host, neighbourId, neighbours, 8123)).reached).toEqual([]);
  });

  it.skipIf(whyNot(user) || !internet)('reaches the internet, and names resolve', async () => {
    const host = await attackedHost(user);
    expect(host.network).toMatchObject({ kind: 'internet' });
    const get =
      'curl --silent --show-error --max-time 30 --output /dev/null --write-out "%{http_code}" http://deb.debian.org/';
    const outcome = await host.run(ownSandboxId, `command -v curl >/dev/null || { echo no curl; exit; }; ${get}`);
    expect(outcome.stdout, outcome.stderr).toMatch(/^[23]\d\d$|^no curl/);
  });

  it.skipIf(whyNot(user) || !isRoot)(
    'resolves names through a resolver on the loopback interface, and reaches nothing else there',
    async () => {
      const resolver = '127.77.0.1';
      await openResolver(resolver, '203.0.113.9');
      const port = await openService(resolver);
      const host = await attackedHost(user, { resolver });
      expect((await host.run(ownSandboxId, 'getent ahostsv4 canary.example | head -1')).stdout).toMatch(
        /^203\.0\.113\.9 /,
      );
      expect((await reachedFrom(host, ownSandboxId, ['10.0.2.3', resolver], port)).reached).toEqual([]);
    },
  );

  it.skipIf(whyNot(user))('reaches the opened ports of the host, and no others', async () => {
    const [open, shut] = [await openService('127.0.0.1'), await openService('127.0.0.1')];
    const host = await attackedHost(user, { network: { internet: false, allowHost: [`127.0.0.1:${open}`] } });
    expect((await reachedFrom(host, ownSandboxId, ['127.0.0.1'], open)).reached).toEqual([
      'REACHED 127.0.0.1 tcp: secret',
    ]);
    expect((await reachedFrom(host, ownSandboxId, ['127.0.0.1'], shut)).reached).toEqual([]);
    expect((await reachedFrom(host, neighbourId, ['127.0.0.1'], open)).reached).toHaveLength(1);
  });

  it.skipIf(whyNot(user))('has at most 128 connections at once to opened ports', async () => {
    const open = await openService();
    const host = await attackedHost(user, { network: { internet: false, allowHost: [`127.0.0.1:${open}`] } });
    const many = `use IO::Socket::INET; use IO::Select; my @s; for (1..200) {
      my $s = IO::Socket::INET->new("127.0.0.1:${open}") or last; push @s, $s }
      sleep 2; my $n = 0; for my $s (@s) { $n++ unless IO::Select->new($s)->can_read(0) && !sysread($s, my $b, 1) } print $n`;
    const { stdout, stderr } = await host.run(ownSandboxId, `perl -e '${many}'`);
    expect(Number(stdout), stderr).toBeGreaterThan(0);
    expect(Number(stdout)).toBeLessThanOrEqual(128);
    expect((await reachedFrom(host, neighbourId, ['127.0.0.1'], open)).reached).toHaveLength(1);
  });

  it.skipIf(whyNot(user))('leaves no process if the service is killed', async () => {
    const host = await attackedHost(user);
    await host.run(ownSandboxId, ':');
    const mark = processMark();
    void host.run(ownSandboxId, `sleep ${mark}`).catch(() => undefined);
    await expect.poll(() => runningWith(mark).length).toBeGreaterThan(0);
    const before = descendantsOf(host.pid);
    expect(before.length).toBeGreaterThan(2);
    await host.kill();
    await expect.poll(() => before.filter(isAlive)).toEqual([]);
  });
});

describe.skipIf(!bubblewrap || !isRoot)('if a plain user may not open the tun device', () => {
  it('sandboxes have no network, and the reason is reported', async () => {
    const host = await attackedHost('a plain user', { tun: false });
    if (host.network.kind === 'internet') return;
    expect(host.network).toMatchObject({ kind: 'none', reason: expect.stringContaining('/dev/net/tun') });
    const port = await openService();
    expect((await reachedFrom(host, ownSandboxId, addressesOfTheHost(), port)).reached).toEqual([]);
  });
});

describe.skipIf(!bubblewrap)('without slirp4netns', () => {
  it('sandboxes have no network, the log reports it, and the user can choose the host network', async () => {
    const messages: string[] = [];
    const log = (message: string) => void messages.push(message);
    const directory = await temporaryDirectory();
    // All except this one.
    await mkdir(`${directory}/bin`);
    for (const name of ['bwrap', 'unshare', 'nsenter', 'ip']) {
      const file = await findProgram(name, defaultProgramPath);
      if (file) await symlink(file, `${directory}/bin/${name}`);
    }
    const host = await createMachineHost({ directory, isolation: 'bubblewrap', programPath: `${directory}/bin`, log });
    onTestFinished(async () => await host.close());
    expect(host.description.network).toMatchObject({ kind: 'none', reason: 'slirp4netns is not installed' });
    expect(messages.join()).toMatch(/NO network: slirp4netns is not installed/);
  });

  it('with "network": "host" a sandbox reaches listeners of the host', async () => {
    const port = await openService('127.0.0.1');
    const host = await attackedHost(isRoot ? 'root' : 'a plain user', { network: 'host' });
    expect((await reachedFrom(host, ownSandboxId, ['127.0.0.1'], port)).reached).toContain(
      'REACHED 127.0.0.1 tcp: secret',
    );
  });
});

async function hasInternet(): Promise<boolean> {
  const answered = fetch('http://deb.debian.org/', { signal: AbortSignal.timeout(10_000) });
  return await answered.then(
    () => true,
    () => false,
  );
}
