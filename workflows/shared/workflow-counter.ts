/**
 * Numbers that belong to one workflow execution. All workflows of a worker share their modules, so module scope must not
 * hold them; the SDK gives each workflow its own global object.
 */

export interface WorkflowCounter {
  /** The number of this workflow execution; 0 at first. */
  value: number;
}

/** @param name unique among all counters */
export function workflowCounter(name: string): WorkflowCounter {
  const key = Symbol.for(`sandflow.${name}`);
  const own = globalThis as { [key: symbol]: number | undefined };
  return {
    get value() {
      return own[key] ?? 0;
    },
    set value(next) {
      own[key] = next;
    },
  };
}
