import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { policySchema } from '../../../src/retention/policy-schema.js';
import { readSource } from './source-imports.js';

const { $schema, ...fields } = z.toJSONSchema(policySchema, { io: 'input' });
const title = 'sandflow cleanup policy';
const description = 'What `sandflow cleanup` stops and deletes, and what it never touches.';
const schema = { $schema, title, description, ...fields };
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

test('docs/retention-policy.schema.json is up to date: npm run policy-schema writes it', async () => {
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
    '../../../docs/retention-policy.schema.json',
  );
});

test('the schema is that of the file as it is written', () => {
  expect(schema).toMatchObject({ type: 'object', required: ['rules'] });
  expect(Object.keys(schema.properties ?? {})).toContain('warnBeforeExpiry');
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
