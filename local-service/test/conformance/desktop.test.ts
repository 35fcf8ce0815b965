import { expect } from 'vitest';
import { rule } from './rule.js';
import { startLocalTarget } from './target/index.js';

rule(
  ['desktop.stream-url', 'desktop.vnc', 'desktop.public-access', 'desktop.body-optional'],
  'without a desktop each form of the call says what is missing, and so does the sandbox',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    expect((await local.call('GET', `/sandboxes/${id}`)).body.sandbox.desktopAvailable).toBe(false);
    const missing = {
      status: 409,
      body: {
        code: 'desktop_not_available',
        message: expect.stringMatching(/isolated/),
        error: { details: { desktopAvailable: false, missing: expect.any(Array) } },
      },
    };
    expect(await local.call('POST', `/sandboxes/${id}/desktop`)).toMatchObject(missing);
    expect(await local.call('POST', `/sandboxes/${id}/desktop?vnc=1`)).toMatchObject(missing);
    const open = { body: { publicAccess: true } };
    expect(await local.call('POST', `/sandboxes/${id}/desktop`, open)).toMatchObject(missing);
  },
  { needs: ['local'] },
);

rule(
  ['desktop.body-optional', 'desktop.vnc', 'errors.sandbox-not-found'],
  'an invalid desktop call is refused',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    const refused = { status: 400, body: { code: 'invalid_request' } };
    expect(await local.call('POST', `/sandboxes/${id}/desktop?vnc=yes`)).toMatchObject(refused);
    const wrong = { body: { publicAccess: 'yes' } };
    expect(await local.call('POST', `/sandboxes/${id}/desktop`, wrong)).toMatchObject(refused);
    expect(await local.call('POST', '/sandboxes/bx_22222222/desktop')).toMatchObject({
      status: 404,
      body: { code: 'sandbox_not_found' },
    });
  },
  { needs: ['local'] },
);
