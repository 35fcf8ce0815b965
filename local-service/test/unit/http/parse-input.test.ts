import { describe, expect, it } from 'vitest';
import { type EndpointName, endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { parseInput } from '../../../src/http/parse-input.js';

function refusalOf(name: EndpointName, given: { readonly body?: unknown; readonly query?: unknown }) {
  try {
    parseInput(endpoints[name], { params: {}, query: given.query ?? {}, body: given.body, headers: {} });
  } catch (error) {
    const { status, code, message } = error as { status: number; code: string; message: string };
    return { status, code, message };
  }
  throw new Error('the request was accepted');
}

describe('a refused request', () => {
  it.each<[EndpointName, { body?: unknown; query?: unknown }, string, string]>([
    [
      'createSandbox',
      { body: { type: 'huge' } },
      'invalid_request',
      'type: must be small, default, large or xlarge, not "huge"',
    ],
    ['createSandbox', { body: { noEnv: 'yes' } }, 'invalid_request', 'noEnv: must be true or false, not "yes"'],
    ['createSandbox', { body: { ttlSeconds: 1.5 } }, 'invalid_request', 'ttlSeconds: must be a whole number, not 1.5'],
    ['createSandbox', { body: { ttlSeconds: 0 } }, 'invalid_request', 'ttlSeconds: must be more than 0'],
    ['createSandbox', { body: { name: '' } }, 'invalid_name', 'name: must not be empty'],
    ['createSandbox', { body: { name: 'x'.repeat(101) } }, 'invalid_name', 'name: must have at most 100 characters'],
    ['createSandbox', { body: [] }, 'invalid_request', 'body: must be an object, not a list'],
    ['sendPrompt', { body: {} }, 'prompt_required', 'prompt: is missing'],
    [
      'createWebhook',
      { body: { name: 'w', url: 'x', events: [] } },
      'invalid_request',
      'events: must have at least 1 entry',
    ],
    ['listSandboxes', { query: { limit: 'all' } }, 'invalid_request', 'limit: must be a number, not NaN'],
  ])('of %s with %j names the field and what is allowed', (name, given, code, message) => {
    expect(refusalOf(name, given)).toEqual({ status: 400, code, message });
  });

  it('does not quote what may be a secret', () => {
    const texts = [
      refusalOf('updateSecrets', { body: { set: { PIN: 90_210 } } }).message,
      refusalOf('runCommand', { body: { command: 'true', env: { PIN: 90_210 } } }).message,
    ];
    expect(texts).toEqual(['set.PIN: must be text', 'env.PIN: must be text']);
    expect(refusalOf('runCommand', { body: {} }).message).toBe('command: is missing');
  });
});
