import { expect, it } from 'vitest';
import { isLoopbackHost, withoutEndSlashes } from '../../../src/contract/urls.js';

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
