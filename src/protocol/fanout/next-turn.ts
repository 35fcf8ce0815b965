/** Decides whether a resume runs a changed item again. No dependencies: workflow code imports this file. */

/** `again`: the next generation runs, whatever the newest one did. `alone`: nothing runs. `as_ever`: the outcome decides. */
export type Turn = 'again' | 'alone' | 'as_ever';

/**
 * A generation that ended after the change has run with it, so the same change never runs an item twice.
 * @param known the newest generation that has ended; null for none
 * @param options.next null if the item has not changed
 * @param options.only true if only named items run
 */
export function turnOf(
  known: { readonly generation: number } | null,
  {
    next,
    only,
  }: { readonly next: { readonly after: number; readonly isNamed: boolean } | null; readonly only: boolean },
): Turn {
  if (only && !next?.isNamed) return 'alone';
  return next !== null && (known?.generation ?? 0) <= next.after ? 'again' : 'as_ever';
}
