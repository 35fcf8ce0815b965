/** The setting for the network of sandboxes: `network` in the settings of the local service. */
import { isIP } from 'node:net';
import { z } from 'zod';

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

const hostPort = z.string().refine((text) => parseHostPort(text) !== undefined, {
  error: 'must be a host and a port, such as 127.0.0.1:11434 or [::1]:8080',
});

const hostPorts = z
  .array(hostPort)
  .refine((texts) => new Set(texts.map((text) => parseHostPort(text)?.port)).size === texts.length, {
    error: 'must not contain a port twice, because a sandbox reaches each port at 127.0.0.1',
  });

const ipv4Network = z.string().refine(isIpv4Network, { error: 'must be an IPv4 network, such as 10.20.0.0/16' });

/**
 * `host`: sandboxes share the network of this machine, its loopback interface included. Otherwise each has its own
 * network:
 *
 * - `internet`: whether the network leads to the internet, if slirp4netns is installed. Default: true.
 * - `allowHost`: single ports, such as the port of a model server on this machine. Sandboxes reach each at 127.0.0.1
 *   and the same port. Default: none.
 * - `allowNetworks`: private networks that sandboxes can reach as well, such as the network of a package mirror; never
 *   an address of this machine itself. Default: none.
 */
export const networkSettingSchema = z.union([
  z.literal('host'),
  z.strictObject({ internet: z.boolean(), allowHost: hostPorts, allowNetworks: z.array(ipv4Network) }).partial(),
]);

export type NetworkSetting = z.infer<typeof networkSettingSchema>;

/** Undefined if the text is not a host and a port. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host !== undefined && port > 0 && port <= 65_535 ? { host, port } : undefined;
}

function isIpv4Network(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  return isIP(address) === 4 && /^\d{1,2}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= 32 && more.length === 0;
}
