/** Reduces a JSON document to chosen fields. */

/** The chosen fields by name: `true` for a whole field, otherwise what is chosen inside it. */
export interface FieldSelection {
  readonly [name: string]: true | FieldSelection;
}

/** Reduces a document to the chosen fields and keeps its structure. If a field is missing, it becomes null. */
export function pickFields(value: unknown, chosen: FieldSelection): unknown {
  if (Array.isArray(value)) return value.map((one) => pickFields(one, chosen));
  if (typeof value !== 'object' || value === null) return value ?? null;
  const known = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(chosen).map(([name, inner]) => {
      const field = Object.hasOwn(known, name) ? (known[name] ?? null) : null;
      return [name, inner === true ? field : pickFields(field, inner)];
    }),
  );
}
