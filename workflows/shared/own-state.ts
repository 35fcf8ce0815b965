/**
 * State that belongs to one workflow execution. All workflows of a worker share their modules, so module scope must not
 * hold it; the SDK gives each workflow its own global object.
 */

/**
 * Returns a function that returns the state of the current workflow.
 * @param name unique among all such states
 * @param create makes the state at its first use
 */
export function ownState<T extends object>(name: string, create: () => T): () => T {
  const key = Symbol.for(`sandflow.${name}`);
  const own = globalThis as { [key: symbol]: T | undefined };
  return () => {
    own[key] ??= create();
    return own[key];
  };
}
