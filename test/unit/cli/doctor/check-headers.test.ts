import { describe, expect, it } from 'vitest';
import { startService } from '../../../../local-service/test/service/service-under-test.js';
import { checkHeaders, judgeClock } from '../../../../src/cli/doctor/check-headers.js';
import { checkLocalClock } from '../../../../src/cli/doctor/check-local.js';

describe('the clock', () => {
  const service = Date.parse('2026-01-01T00:00:00Z') + 500;
  it.each([
    [0, 'ok'],
    [-20, 'ok'],
    [45, 'warning'],
    [-299, 'warning'],
    [300, 'failed'],
    [-4_000, 'failed'],
  ])('%i s away is %s', (seconds, status) => {
    expect(judgeClock('Thu, 01 Jan 2026 00:00:00 GMT', service + seconds * 1_000).status).toBe(status);
  });

  it('is not checked without a date', () => {
    expect(judgeClock(null, service).status).toBe('skipped');
    expect(judgeClock('yesterday', service).status).toBe('skipped');
  });
});

describe('the clock of a local service', () => {
  const now = '2026-01-01T00:00:00.000Z';
  const day = 86_400_000;
  it.each([
    [true, 0, 'failed', `held at ${now}`, 'sandflow local clock --release'],
    [false, -2 * day, 'warning', '2 d behind that of this machine', 'sandflow local clock --release'],
    [false, 40 * day - 5, 'warning', '40 d ahead of that of this machine', 'sandflow local reset --yes'],
  ])('if held: %s, and %i ms ahead, is %s', (held, aheadMs, status, message, mend) => {
    const check = checkLocalClock({ now, held, aheadMs });
    expect(check).toMatchObject({ name: 'clock', status });
    expect(check?.message).toContain(message);
    expect(check?.mend).toContain(mend);
  });

  it('is no finding if it runs and agrees, or is unknown', () => {
    expect(checkLocalClock({ now, held: false, aheadMs: 4_000 })).toBeNull();
    expect(checkLocalClock(null)).toBeNull();
  });
});

it('the legacy base URL is recognised by its Sunset header, and the current one is not warned of', async () => {
  const { service } = await startService();
  expect(await checkHeaders(service.legacyUrl ?? '')).toMatchObject([
    { name: 'clock', status: 'ok' },
    { name: 'service', status: 'warning', message: expect.stringMatching(/Sunset: .*31 Oct/) },
  ]);
  expect(await checkHeaders(service.url ?? '')).toMatchObject([{ name: 'clock', status: 'ok' }]);
});
