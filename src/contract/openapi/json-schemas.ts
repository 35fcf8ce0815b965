/**
 * Turns the zod schemas of the contract into the JSON Schemas of an OpenAPI document. Named schemas become components.
 */
import { z } from 'zod';

export type JsonSchema = { readonly [key: string]: unknown };

export interface SchemaCollector {
  /** The schema of a request (`input`) or of an answer (`output`). Named schemas become components. */
  add(schema: z.ZodType, direction: 'input' | 'output'): JsonSchema;
  readonly components: Readonly<Record<string, JsonSchema>>;
}

export function createSchemaCollector(): SchemaCollector {
  const components: Record<string, JsonSchema> = {};
  return {
    add(schema, direction) {
      const { $schema: _, $defs = {}, ...converted } = z.toJSONSchema(schema, { io: direction });
      for (const [name, definition] of Object.entries($defs)) components[name] = cleaned(definition) as JsonSchema;
      return cleaned(converted) as JsonSchema;
    },
    components,
  };
}

/** Changes references so that they point to the components, and removes entries that mean nothing. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'id') {
      // zod repeats the name of a component inside it, which JSON Schema does not know.
      if (typeof inner === 'string') continue;
    }
    if (key === 'additionalProperties' && typeof inner === 'object' && inner !== null && isEmpty(inner)) continue;
    if (inner === undefined) continue;
    result[key] =
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/$defs/', '#/components/schemas/')
        : key === 'properties'
          ? eachCleaned(inner)
          : cleaned(inner);
  }
  return result;
}

/** Cleans each property. The names come from the service, so no name has a special meaning here. */
function eachCleaned(properties: unknown): unknown {
  return Object.fromEntries(
    Object.entries(properties as Record<string, unknown>).map(([name, schema]) => [name, cleaned(schema)]),
  );
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
