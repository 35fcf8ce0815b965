import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { endpoints } from '../../../../src/contract/endpoints/endpoints.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';

type Json = { readonly [key: string]: Json } & readonly Json[] & string;
const document = openApiDocument() as unknown as Json;
const text = `${JSON.stringify(document, null, 2)}\n`;

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly parameters: readonly { readonly schema: object; readonly example?: unknown; readonly name: string }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { schema: object; example?: unknown } } };
}
const operations = Object.values(document.paths ?? {}).flatMap((methods) =>
  Object.values(methods),
) as unknown as Operation[];

test('docs/openapi.json is up to date: npm run openapi writes it', async () => {
  await expect(text).toMatchFileSnapshot('../../../../docs/openapi.json');
});

test('every endpoint of the contract is an operation', () => {
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(endpoints).sort());
});

test.each([
  ['Environment', 'versions'],
  ['EnvironmentVersion', 'versionNumber'],
  ['SecretName', 'updatedAt'],
  ['ApiKey', 'lastFour'],
  ['Repo', 'fullName'],
  ['Limits', 'requestsPerMinute'],
])('the component %s has what its name says: %s', (name, field) => {
  expect(Object.keys(document.components?.schemas?.[name]?.properties ?? {})).toContain(field);
});

test('every reference resolves to a component', () => {
  const references = [...text.matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, path = '']) => path);
  expect(references.length).toBeGreaterThan(100);
  const lost = references.filter((path) => {
    let found: Json | undefined = document;
    for (const step of path.split('/')) found = found?.[step];
    return found === undefined;
  });
  expect(lost).toEqual([]);
});

test('every example is valid for its schema', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: document.components });
  const valid = (schema: object, value: unknown) =>
    ajv.validate(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')), value);
  const bad: string[] = [];
  let checked = 0;
  for (const { operationId, parameters, requestBody } of operations) {
    for (const { name, schema, example } of parameters) {
      if (example === undefined) continue;
      checked++;
      if (!valid(schema, example)) bad.push(`${operationId}: ${name}`);
    }
    const { schema, example } = requestBody?.content['application/json'] ?? {};
    if (!schema) continue;
    checked++;
    if (!valid(schema, example)) bad.push(`${operationId}: body: ${ajv.errorsText()}`);
  }
  expect(bad).toEqual([]);
  expect(checked).toBeGreaterThan(60);
});

test('assumptions of the contract are marked in the document', () => {
  const assumed = Object.entries(endpoints).filter(([, endpoint]) => 'assumed' in endpoint);
  const marked = operations.filter(({ description }) => description.includes('Assumed, not shown'));
  expect(marked.map(({ operationId }) => operationId).sort()).toEqual(assumed.map(([name]) => name).sort());
});
