import { expect, test } from 'vitest';
import { endpoints } from '../../../src/contract/endpoints.js';
import { readSource } from './source-imports.js';

test('docs/assumptions.md lists every endpoint with an assumption as the contract words it, and no others', () => {
  const rows = [...readSource('docs/assumptions.md').matchAll(/^\| `(\w+)` \| `(\S+ \S+)` \| (.+) \|$/gm)];
  const listed = rows.map(([, name, call, assumed]) => ({ name, call, assumed }));
  const known = Object.entries(endpoints).flatMap(([name, endpoint]) =>
    'assumed' in endpoint ? [{ name, call: `${endpoint.method} ${endpoint.path}`, assumed: endpoint.assumed }] : [],
  );
  expect(listed).toEqual(known);
  expect(listed.length).toBeGreaterThan(0);
});
