/** The code of an error as the label of a metric. A gateway may put the id of a request there: each would be a series. */
export function codeLabel(code: string | null | undefined): string {
  if (code === null || code === undefined) return 'none';
  return /^[a-z_]{1,40}$/.test(code) ? code : 'other';
}
