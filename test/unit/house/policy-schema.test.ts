import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { policyJsonSchema } from '../../../src/retention/policy-schema.js';
import { readSource } from './source-imports.js';

const schema = policyJsonSchema();
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

test('docs/retention-policy.schema.json is up to date: npm run policy-schema writes it', async () => {
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
    '../../../docs/retention-policy.schema.json',
  );
});

test('the example policy is valid', () => {
  expect(validate(parse(readSource('examples/cleanup-policy.yaml'))), JSON.stringify(validate.errors)).toBe(true);
});

test.each([
  ['no rules', { rules: [] }],
  ['an unknown field', { rules: [{ rule: 'a', action: 'stop' }], rulez: [] }],
  ['an unknown action', { rules: [{ rule: 'a', action: 'burn' }] }],
  ['a duration in words', { rules: [{ rule: 'a', action: 'stop', match: { olderThan: '7 days' } }] }],
  ['an unknown state', { rules: [{ rule: 'a', action: 'stop', match: { state: ['gone'] } }] }],
])('%s is not valid', (_, policy) => {
  expect(validate(policy)).toBe(false);
});
