import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPublicLookup, isPublicAddress } from '../../../src/webhooks/public-address.js';
import { requireWebhookUrl } from '../../../src/webhooks/url-rules.js';

const octet = fc.integer({ min: 0, max: 255 });
const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
const ipv4 = fc.tuple(octet, octet, octet, octet);
const dotted = (parts: readonly number[]): string => parts.join('.');
const hexOf = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string =>
  `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;

const numberOf = (parts: readonly number[]): bigint => parts.reduce((all, part) => all * 256n + BigInt(part), 0n);

/** Inside a network of `prefix` bits, with any bits behind them. */
function within(network: readonly number[], prefix: number): fc.Arbitrary<string> {
  const mask = (1n << BigInt(32 - prefix)) - 1n;
  return ipv4.map((any) => {
    const value = (numberOf(network) & ~mask) | (numberOf(any) & mask);
    return dotted([24n, 16n, 8n, 0n].map((shift) => Number((value >> shift) & 255n)));
  });
}

const privateNetworks = {
  'this network': [[0, 0, 0, 0], 8],
  'RFC 1918, 10/8': [[10, 0, 0, 0], 8],
  'RFC 1918, 172.16/12': [[172, 16, 0, 0], 12],
  'RFC 1918, 192.168/16': [[192, 168, 0, 0], 16],
  'carrier-grade NAT': [[100, 64, 0, 0], 10],
  loopback: [[127, 0, 0, 0], 8],
  'link-local, with the metadata service': [[169, 254, 0, 0], 16],
  benchmarking: [[198, 18, 0, 0], 15],
  documents: [[203, 0, 113, 0], 24],
  multicast: [[224, 0, 0, 0], 4],
  'reserved, with broadcast': [[240, 0, 0, 0], 4],
} as const;

describe.each(Object.entries(privateNetworks))('%s', (_name, [network, prefix]) => {
  const address = within(network, prefix);

  test('contains no public address, mapped or tunnelled ones included', () => {
    fc.assert(
      fc.property(address, (text) => {
        const hex = hexOf(text.split('.').map(Number));
        for (const hidden of [
          text,
          `::ffff:${text}`,
          `::ffff:${hex}`,
          `::${hex}`,
          `64:ff9b::${hex}`,
          `2002:${hex}::1`,
        ]) {
          expect(isPublicAddress(hidden), hidden).toBe(false);
        }
      }),
    );
  });

  test('is refused in a URL, however the address is spelled', () => {
    fc.assert(
      fc.property(address, (text) => {
        const parts = text.split('.').map(Number);
        const number = numberOf(parts);
        const octal = parts.map((part) => `0${part.toString(8)}`).join('.');
        for (const host of [
          text,
          `${number}`,
          `0x${number.toString(16)}`,
          octal,
          `[::ffff:${text}]`,
          `[64:ff9b::${hexOf(parts)}]`,
        ]) {
          expect(() => requireWebhookUrl(`https://${host}/`, true), host).toThrow(/public|not valid/);
        }
      }),
    );
  });
});

test('no IPv6 address outside global unicast is public', () => {
  const first = fc.integer({ min: 0, max: 0xffff }).filter((value) => value >> 13 !== 1);
  const address = fc.tuple(first, fc.array(group, { minLength: 7, maxLength: 7 }));
  fc.assert(
    fc.property(address, ([head, rest]) => {
      expect(isPublicAddress([head.toString(16), ...rest].join(':'))).toBe(false);
    }),
  );
});

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '2606:4700::1111',
  '2a00:1450::1',
])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

test.each(['', 'localhost', '1.1.1', 'fe80::1%eth0', '2606:4700::1111%eth0', '1.1.1.1/32'])(
  '%j is not a public address',
  (text) => {
    expect(isPublicAddress(text)).toBe(false);
  },
);

test('a lookup fails if one of several addresses is not public, and returns the checked ones otherwise', async () => {
  const asked = (addresses: readonly string[], all: boolean) =>
    new Promise<unknown>((resolve, reject) => {
      const publicLookup = createPublicLookup(async () => addresses);
      publicLookup('hooks.example.com', { all }, (error, found) => (error ? reject(error) : resolve(found)));
    });
  await expect(asked(['1.1.1.1', '10.0.0.1'], true)).rejects.toThrow('not public');
  await expect(asked(['::ffff:10.0.0.1'], false)).rejects.toThrow('not public');
  await expect(asked([], false)).rejects.toThrow('no address');
  await expect(asked(['1.1.1.1'], false)).resolves.toBe('1.1.1.1');
  await expect(asked(['1.1.1.1', '2606:4700::1111'], true)).resolves.toEqual([
    { address: '1.1.1.1', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]);
});
