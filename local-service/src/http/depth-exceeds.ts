/** Not recursive, because a deeply nested value would overflow the stack. */
export function depthExceeds(root: unknown, limit: number): boolean {
  let level = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return false;
}
