import { expect, it } from 'vitest';
import { isLoopbackHost, temporalAddressProblem, withoutEndSlashes } from '../../../src/texts/urls.js';

const hostOf = (host: string) => URL.parse(`http://${host}/`)?.hostname ?? host;

it.each(['localhost', 'LOCALHOST', 'localhost.', 'api.localhost', '127.0.0.1', '127.255.0.254', '127.1', '[::1]'])(
  'recognises %s as this machine',
  (host) => {
    expect(isLoopbackHost(hostOf(host))).toBe(true);
  },
);

it.each([
  'example.com',
  'localhost.example.com',
  'notlocalhost',
  '127.0.0.1.example.com',
  'x127.0.0.1',
  '128.0.0.1',
  '[::2]',
  '0.0.0.0',
])('does not take %s for this machine', (host) => {
  expect(isLoopbackHost(hostOf(host))).toBe(false);
});

it('removes the slashes at the end of a URL, and no others', () => {
  expect(['http://a//b///', 'http://a', '///', ''].map(withoutEndSlashes)).toEqual(['http://a//b', 'http://a', '', '']);
});

it('takes as the address of Temporal what its clients take, and nothing that could hold a secret', () => {
  const hosts = [
    'localhost',
    'my_temporal',
    'ns.acct.tmprl.cloud:7233',
    '10.0.0.1:1',
    '[::1]:7233',
    'bücher.example:7233',
  ];
  expect(hosts.filter((address) => temporalAddressProblem(address) !== undefined)).toEqual([]);
  const others = [
    'http://a:1',
    'dns:///a:1',
    'u:p@a:1',
    'p@a',
    'a:1/p',
    'a?p=1',
    'a#p',
    'a:0',
    'a:65536',
    '::1',
    'a\n',
    '',
  ];
  expect(others.filter((address) => temporalAddressProblem(address) === undefined)).toEqual([]);
});
