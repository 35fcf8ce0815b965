/**
 * Removes the secrets of this process from whatever leaves it: errors, log lines, JSON and notifications. A library may
 * quote a header or a URL in its error, so the text itself is searched. `known-secrets.ts` adds the secrets. In workflow
 * code there are none, and nothing is changed. No dependencies: workflow code imports this file through `SandflowError`.
 */

export const removed = '[redacted]';

/** One pattern per secret, by the secret. It matches every form of the secret. */
const patterns = new Map<string, RegExp>();

/** @param pattern a global expression that matches every form of the secret */
export function addPattern(secret: string, pattern: RegExp): void {
  patterns.set(secret, pattern);
}

export function isKnown(secret: string): boolean {
  return patterns.has(secret);
}

/** Replaces every known secret by `[redacted]`. Text without secrets is returned unchanged. */
export function withoutSecrets(text: string): string {
  let clean = text;
  for (const pattern of patterns.values()) clean = clean.replace(pattern, removed);
  return clean;
}

/**
 * As `withoutSecrets`, for every string in arrays and plain objects. Errors in them are cleaned in place. A value without
 * secrets is returned itself, not a copy.
 */
export function withoutSecretsIn<Value>(value: Value): Value {
  return patterns.size === 0 ? value : (clean(value, new Set()) as Value);
}

type Log = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** The same log, without secrets in its lines; without a log, one that drops them. */
export function logWithoutSecrets(log: Log = () => undefined): Log {
  return (message, fields) => log(withoutSecrets(message), withoutSecretsIn(fields));
}

/**
 * Removes secrets from the message, the stack, the causes and the other fields of an error. The error is changed in
 * place, because a copy would lose its class.
 */
export function cleanError(error: unknown): void {
  withoutSecretsIn(error);
}

function clean(value: unknown, seen: Set<unknown>): unknown {
  if (typeof value === 'string') return withoutSecrets(value);
  if (typeof value !== 'object' || value === null || seen.has(value)) return value;
  seen.add(value);
  if (value instanceof Error) {
    cleanFields(value, seen);
    return value;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => clean(item, seen));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  const entries = Object.entries(value);
  const cleaned = entries.map(([name, field]) => [withoutSecrets(name), clean(field, seen)] as const);
  const isSame = cleaned.every(([name, field], index) => name === entries[index]?.[0] && field === entries[index]?.[1]);
  if (isSame) return value;
  // Loggers pass a time under a symbol.
  const symbols = Object.getOwnPropertySymbols(value).map((symbol) => [symbol, Reflect.get(value, symbol)] as const);
  return Object.fromEntries<unknown>([...cleaned, ...symbols]);
}

function cleanFields(error: Error, seen: Set<unknown>): void {
  const fields = error as unknown as Record<string, unknown>;
  for (const name of Object.getOwnPropertyNames(error)) {
    const field = fields[name];
    const cleaned = clean(field, seen);
    // A field that cannot be written keeps its value: this must never replace the error by another one.
    if (cleaned !== field) Reflect.set(error, name, cleaned);
  }
}
