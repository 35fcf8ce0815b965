/** Which proxy the environment names. Tier: unit. */
import { describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../../src/errors/without-secrets.js';
import { tunnelTo, unifyProxySettings } from '../../../src/settings/proxies.js';

const unified = (env: Record<string, string>) => {
  const all: Record<string, string | undefined> = { ...env };
  unifyProxySettings(all);
  return all;
};

describe('the variables of proxies', () => {
  it.each(['https_proxy', 'HTTPS_PROXY'])('get both spellings from %s, and leave loopback out', (name) => {
    expect(unified({ [name]: 'http://proxy.test:3128' })).toEqual({
      https_proxy: 'http://proxy.test:3128',
      HTTPS_PROXY: 'http://proxy.test:3128',
      no_proxy: 'localhost,127.0.0.1,::1,[::1]',
      NO_PROXY: 'localhost,127.0.0.1,::1,[::1]',
    });
  });

  it('keep what NO_PROXY names', () => {
    expect(unified({ http_proxy: 'http://p.test', NO_PROXY: 'a.test, 127.0.0.1' })).toMatchObject({
      no_proxy: 'a.test,127.0.0.1,localhost,::1,[::1]',
    });
  });

  it.each(['*', ' * ', 'a.test,*'])('lead nowhere if NO_PROXY is "%s", which libraries know only alone', (list) => {
    expect(unified({ http_proxy: 'http://p.test', NO_PROXY: list })).toMatchObject({ no_proxy: '*', NO_PROXY: '*' });
  });

  it.each(['grpc_proxy', 'GRPC_PROXY'])('get both spellings from %s, with lists of their own and of all', (name) => {
    const env = { [name]: 'http://g.test', NO_GRPC_PROXY: 'a.test' };
    const direct = 'a.test,localhost,127.0.0.1,::1,[::1]';
    const both = { grpc_proxy: 'http://g.test', GRPC_PROXY: 'http://g.test', no_grpc_proxy: direct };
    expect(unified(env)).toMatchObject({ ...both, no_proxy: 'localhost,127.0.0.1,::1,[::1]' });
  });

  it.each(['p.test:3128', 'localhost:3128', 'u:w@p.test:3128'])('get a scheme if they have none: %s', (value) => {
    expect(unified({ HTTPS_PROXY: value })).toMatchObject({ https_proxy: `http://${value}` });
    expect(tunnelTo('temporal.test:7233', { HTTPS_PROXY: value })?.address).toMatch(/^(p\.test|localhost):3128$/);
  });

  it.each(['socks5://u:word-of-proxy@p.test', 'http://', 'http://word-of-proxy%@p.test'])(
    'are refused by name, without their value, if they are no proxy: %s',
    (value) => {
      const refused = /^HTTPS_PROXY is no address of an HTTP proxy\. (?!.*(p\.test|word-of-proxy))/;
      expect(() => unified({ https_proxy: value })).toThrow(refused);
      expect(() => tunnelTo('temporal.test:7233', { HTTPS_PROXY: value })).toThrow(refused);
    },
  );

  it('change nothing without a proxy', () => {
    expect(unified({ HOME: '/root' })).toEqual({ HOME: '/root' });
  });
});

describe('the proxy of Temporal', () => {
  const proxy = { HTTPS_PROXY: 'http://proxy.test:3128' };

  it.each([
    ['temporal.test:7233', {}, undefined],
    ['temporal.test:7233', proxy, 'proxy.test:3128'],
    ['temporal.test', { http_proxy: 'http://proxy.test' }, 'proxy.test:80'],
    ['temporal.test:7233', { ...proxy, grpc_proxy: 'http://grpc.test:1' }, 'grpc.test:1'],
    ['temporal.test:7233', { ...proxy, no_proxy: 'other.test,temporal.test' }, undefined],
    ['temporal.test:7233', { ...proxy, NO_PROXY: '.test' }, undefined],
    ['temporal.test:7233', { ...proxy, NO_PROXY: '*.test' }, undefined],
    ['temporal.test:7233', { ...proxy, NO_PROXY: '*' }, undefined],
    ['temporal.test:7233', { ...proxy, NO_PROXY: 'temporal.test:7233' }, undefined],
    ['temporal.test:7233', { ...proxy, NO_PROXY: 'temporal.test:443' }, 'proxy.test:3128'],
    ['nottemporal.test:7233', { ...proxy, NO_PROXY: 'temporal.test' }, 'proxy.test:3128'],
    ['127.0.0.1:7233', proxy, undefined],
    ['[::1]:7233', proxy, undefined],
    ['localhost:7233', proxy, undefined],
  ])('to %s with %o is %s', (address, env, expected) => {
    expect(tunnelTo(address, env)?.address).toBe(expected);
  });

  it('cannot be one that is reached by TLS, and the error says what to set instead', () => {
    const env = { HTTPS_PROXY: 'https://proxy.test' };
    expect(() => tunnelTo('temporal.test:7233', env)).toThrow(/^HTTPS_PROXY begins with https:.*Set GRPC_PROXY/);
    expect(tunnelTo('temporal.test:7233', { ...env, GRPC_PROXY: 'http://g.test:1' })?.address).toBe('g.test:1');
    expect(tunnelTo('temporal.test:7233', { ...env, NO_PROXY: 'test' })).toBeUndefined();
  });

  it('has the login of its URL, which is kept as a secret', () => {
    const env = { https_proxy: 'http://user:pass%40word9@proxy.test:3128' };
    expect(tunnelTo('temporal.test:7233', env)).toEqual({
      address: 'proxy.test:3128',
      login: { username: 'user', password: 'pass@word9' },
    });
    expect(withoutSecrets('it is pass@word9')).not.toContain('pass@word9');
  });
});
