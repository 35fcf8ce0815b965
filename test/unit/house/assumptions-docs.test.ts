import { expect, test } from 'vitest';
import { assumptions } from '../../../src/contract/assumptions.js';
import { type Endpoint, endpoints } from '../../../src/contract/endpoints/endpoints.js';
import { readSource, sourceFiles } from './source-imports.js';

const document = readSource('docs/maintainers/assumptions.md');

test('docs/maintainers/assumptions.md lists exactly the endpoints with an assumption, as the contract words it', () => {
  const rows = [...document.matchAll(/^\| `(\w+)` \| `(\S+ \S+)` \| (.+) \|$/gm)];
  const listed = rows.map(([, name, call, assumed]) => ({ name, call, assumed }));
  const known = Object.entries<Endpoint>(endpoints).flatMap(([name, { method, path, assumed }]) =>
    assumed ? [{ name, call: `${method} ${path}`, assumed: assumed.join(', ') }] : [],
  );
  expect(listed).toEqual(known);
  expect(listed.length).toBeGreaterThan(0);
});

test('docs/maintainers/assumptions.md explains exactly the ids of the contract', () => {
  const rows = [...document.matchAll(/^\| `(A-[a-z0-9-]+)` \| (.+) \|$/gm)];
  expect(rows.map(([, id, says]) => [id, says])).toEqual(Object.entries(assumptions));
});

test('every assumption is used by a row of the contract, by the client or by the local service', () => {
  const rows = new Set<string>(Object.values<Endpoint>(endpoints).flatMap(({ assumed = [] }) => assumed));
  const files = sourceFiles('local-service/src', 'src', 'activities');
  const sources = files
    .filter((file) => file !== 'src/contract/assumptions.ts' && !file.startsWith('local-service/src/deviations/'))
    .map(readSource)
    .join('\n');
  const unused = Object.keys(assumptions).filter((id) => !rows.has(id) && !sources.includes(id));
  expect(unused).toEqual([]);
});
