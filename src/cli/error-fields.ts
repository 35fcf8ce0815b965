/** Reads the fields of errors of any origin, without trusting their shape. */

/** An error code of the system or the network, such as `ENOSPC`. Node's own `ERR_…` codes are defects of the caller. */
export function systemCodeOf(error: unknown): string | undefined {
  const code = stringIn(error, 'code');
  if (code !== undefined && /^(?:E[A-Z0-9]+|UND_ERR_\w+|ERR_(?:TLS|SSL)_\w+)$/.test(code)) return code;
  return error instanceof Error && error.cause ? systemCodeOf(error.cause) : undefined;
}

export function valueIn(holder: unknown, key: string): unknown {
  return typeof holder === 'object' && holder !== null && key in holder
    ? (holder as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

export function stringIn(holder: unknown, key: string): string | undefined {
  const value = valueIn(holder, key);
  return typeof value === 'string' ? value : undefined;
}

export function numberIn(holder: unknown, key: string): number | undefined {
  const value = valueIn(holder, key);
  return typeof value === 'number' ? value : undefined;
}

export function recordIn(holder: unknown, key: string): Readonly<Record<string, unknown>> | undefined {
  const value = valueIn(holder, key);
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}
