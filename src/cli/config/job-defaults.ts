/** Chooses the value of each option of `run` and `fanout`: the flag, then the project. Pure. */

export type JobCommand = 'run' | 'fanout';

/** Maps an option to other options. If the command line has the former, those of the project are ignored. */
const beside: Readonly<Record<JobCommand, Readonly<Record<string, readonly string[]>>>> = {
  run: {
    // The user names an existing sandbox. Settings for new sandboxes must not change or delete it.
    sandbox: ['from', 'type', 'then'],
    fork: ['from'],
  },
  fanout: {
    source: ['snapshot'],
    snapshot: ['source'],
    environment: ['source'],
    env: ['source'],
    setup: ['source', 'snapshot'],
    command: ['source', 'snapshot'],
    preparePut: ['source', 'snapshot'],
    preparePrompt: ['source', 'snapshot'],
    prepareType: ['source', 'snapshot'],
    first: ['failFast'],
    failFast: ['first'],
  },
};

/** Options that may be repeated: their value is a list. */
const lists: Readonly<Record<JobCommand, ReadonlySet<string>>> = {
  run: new Set(),
  fanout: new Set(['provider', 'model', 'effort']),
};

/**
 * @param given the options on the command line, with their values
 * @param ofProject the defaults of the project, by their names in its file
 * @returns the values to set, by the names of the parser. Labels are joined; a label on the command line counts
 */
export function jobDefaults(
  command: JobCommand,
  given: Readonly<Record<string, unknown>>,
  ofProject: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, unknown> {
  const chosen = new Map<string, unknown>();
  const without = new Set(Object.keys(given).flatMap((name) => [name, ...(beside[command][name] ?? [])]));
  for (const [name, value] of Object.entries(ofProject)) {
    if (name !== 'labels' && !without.has(name)) chosen.set(name, parsed(command, name, value));
  }
  const own = Array.isArray(given.label) ? given.label.map(String) : [];
  const known = new Set(own.map((pair) => pair.split('=')[0]));
  const added = Object.entries(ofProject.labels ?? {}).filter(([name]) => !known.has(name));
  if (added.length > 0) chosen.set('label', [...added.map(([name, value]) => `${name}=${value}`), ...own]);
  return chosen;
}

function parsed(command: JobCommand, name: string, value: unknown): unknown {
  if (lists[command].has(name)) return [value].flat();
  return typeof value === 'number' ? String(value) : value;
}
