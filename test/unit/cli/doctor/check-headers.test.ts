import { describe, expect, it } from 'vitest';
import { checkHeaders, judgeClock } from '../../../../src/cli/doctor/check-headers.js';
import { startService } from '../../../local-service/service-under-test.js';

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

it('D16: the legacy base URL is recognised by its Sunset header, and the current one is not warned of', async () => {
  const { service } = await startService();
  expect(await checkHeaders(service.legacyUrl ?? '')).toMatchObject([
    { name: 'clock', status: 'ok' },
    { name: 'service', status: 'warning', message: expect.stringMatching(/Sunset: .*31 Oct/) },
  ]);
  expect(await checkHeaders(service.url ?? '')).toMatchObject([{ name: 'clock', status: 'ok' }]);
});
