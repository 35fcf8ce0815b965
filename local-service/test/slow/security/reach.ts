/** Tries addresses from inside a sandbox, with a program that every Debian has. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import type { AttackedHost } from '../../security/attacked-host.js';

/** Prints `REACHED`, the protocol, how, and the address, if something answers. `bound` names the device, which skips routes. */
const reachProgram = String.raw`
use Socket qw(:all);
my ($address, $port) = @ARGV;
my $six = $address =~ /:/;
my ($bare, $scope) = split /%/, $address;
my $to = $six ? pack_sockaddr_in6($port, inet_pton(AF_INET6, $bare), $scope ? 2 : 0) : pack_sockaddr_in($port, inet_aton($bare));
for my $bound (0, 1) {
  for my $kind (SOCK_STREAM, SOCK_DGRAM) {
    next if fork;
    alarm 4;
    socket(my $s, $six ? AF_INET6 : AF_INET, $kind, 0) or exit;
    if ($bound) { setsockopt($s, SOL_SOCKET, 25, "tap0") or exit; }
    setsockopt($s, SOL_SOCKET, SO_BROADCAST, 1);
    connect($s, $to) or exit;
    send($s, "hello\n", 0) or exit;
    sysread($s, my $answer, 20) or exit;
    print "REACHED $address ", ($kind == SOCK_STREAM ? "tcp" : "udp"), ($bound ? " bound" : ""), ": $answer\n";
    exit;
  }
}
1 while wait != -1;
`;

/** The answering addresses, tried concurrently. */
export async function reachedFrom(host: AttackedHost, sandboxId: string, addresses: readonly string[], port: number) {
  await host.run(sandboxId, 'cat > reach.pl', { stdin: reachProgram });
  const tries = addresses.map((address) => `perl reach.pl '${address}' ${port} &`);
  const { stdout, stderr } = await host.run(sandboxId, `${tries.join('\n')}\nwait`);
  return { reached: stdout.split('\n').filter((line) => line !== ''), stderr };
}

/** A server on this machine that answers on all of its addresses, by TCP and UDP. */
export async function openService(address = '::'): Promise<number> {
  const tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('secret');
  });
  await new Promise<void>((resolve) => tcp.listen(0, address, () => resolve()));
  const { port } = tcp.address() as { port: number };
  const udp = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  udp.on('message', (_, { port: from, address: to }) => udp.send('secret', from, to));
  await new Promise<void>((resolve) => udp.bind(port, address, () => resolve()));
  onTestFinished(() => {
    tcp.close();
    udp.close();
  });
  return port;
}
