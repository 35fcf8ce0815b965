/** The profile `extraFields`: every object of an answer carries a field that nobody listed. */
export function withExtraFields(json: string): string {
  return JSON.stringify(JSON.parse(json), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return { ...value, unlisted: 'a field of a later version' };
  });
}
