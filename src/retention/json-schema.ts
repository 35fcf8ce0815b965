/** The policy file as a JSON Schema, for editors. */
import { z } from 'zod';
import { policySchema } from './policy-schema.js';

/** Published as `docs/retention-policy.schema.json`. */
export function policyJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = z.toJSONSchema(policySchema, { io: 'input' });
  return {
    $schema,
    title: 'sandflow cleanup policy',
    description: 'What `sandflow cleanup` stops and deletes, and what it never touches.',
    ...schema,
  };
}
