/**
 * Which programs can run sandflow. This file imports nothing and uses only old syntax: another program must come as far
 * as its sentence, where it would otherwise fail at the first import that it does not know.
 */

/** The oldest Node: its major and minor version, as in `engines` of package.json. */
export const oldestNode: readonly [number, number] = [20, 19];

/**
 * @param versions `process.versions`
 * @returns why the program cannot run there, in one sentence that says what to do; undefined if it can
 */
export function runtimeProblem(versions: Readonly<Record<string, string | undefined>>): string | undefined {
  const needed = `Node ${oldestNode.join('.')} or newer`;
  const other = versions.bun ? `Bun ${versions.bun}` : versions.deno ? `Deno ${versions.deno}` : undefined;
  if (other) return `sandflow needs ${needed}, and this is ${other}: run it with node.`;
  const [major = 0, minor = 0] = String(versions.node).split('.').map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return undefined;
  return `sandflow needs ${needed}, and this is Node ${versions.node}: install a newer one, for example from https://nodejs.org.`;
}
