/**
 * Writes JSON whose bytes depend only on the value: sorted keys, no white space, no undefined fields. The service
 * compares the body of a repeated create request with the first body (specification, "Errors", idempotency results). So
 * retries by other processes and by later releases must send the same bytes.
 * @example
 * stableJson({ b: 1, a: undefined, c: [2] }); // '{"b":1,"c":[2]}'
 */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (isPlainObject(inner) ? sorted(inner) : inner));
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  // With a null prototype, `__proto__` is an ordinary key.
  const result: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) result[key] = value[key];
  return result;
}
