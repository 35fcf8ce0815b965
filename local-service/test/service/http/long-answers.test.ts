import { expect, test } from 'vitest';
import { apiKey, startService } from '../service-under-test.js';

test('answers a list that is longer than one write, in both vocabularies, without losing a character', async () => {
  const { service } = await startService();
  const names = Array.from({ length: 120 }, (_, index) => `Prüfung „${index}“ 🧪`);
  await service.seed({ version: 1, sandboxes: names.map((name) => ({ name, state: 'error' })) });

  for (const [url, list] of [
    [`${service.url}/sandboxes`, 'sandboxes'],
    [`${service.legacyUrl}/boxes`, 'boxes'],
  ] as const) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.length).toBeGreaterThan(64 * 1024);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const body = JSON.parse(bytes.toString()) as Record<string, { name: string }[]>;
    expect(body[list]?.map(({ name }) => name)).toEqual(names);
  }
});
