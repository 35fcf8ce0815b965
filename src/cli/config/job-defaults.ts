/** Chooses the value of each option of `run` and `fanout`: flag, then profile, then project. Pure. */

/** Options of one source, by their names in the settings. */
export interface Layer {
  /** Where the values come from, for people. */
  readonly from: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface Default {
  /** The value as the parser of the options would return it. */
  readonly value: unknown;
  readonly from: string;
}

export type JobCommand = 'run' | 'fanout';

/** Maps an option to other options. If a stronger source sets the former, those of weaker sources are ignored. */
const beside: Readonly<Record<JobCommand, Readonly<Record<string, readonly string[]>>>> = {
  run: {
    // The user names an existing sandbox. Settings for new sandboxes must not change or delete it.
    sandbox: ['from', 'environment', 'type', 'then', 'snapshots', 'monitoring'],
    fork: ['from', 'environment'],
    env: ['environment'],
  },
  fanout: {
    source: ['snapshot', 'environment'],
    snapshot: ['source'],
    environment: ['source'],
    env: ['source', 'environment'],
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
 * @param layers strongest first
 * @returns the values to set, by the names of the parser. Labels of all sources are joined; the strongest value of a
 *   label counts
 */
export function jobDefaults(
  command: JobCommand,
  given: Readonly<Record<string, unknown>>,
  layers: readonly Layer[],
): ReadonlyMap<string, Default> {
  const chosen = new Map<string, Default>();
  const taken = new Set(Object.keys(given));
  for (const { from, values } of layers) {
    const without = new Set([...taken].flatMap((name) => beside[command][name] ?? []));
    for (const [name, value] of Object.entries(values)) {
      if (name === 'labels' || value === undefined || taken.has(name) || without.has(name)) continue;
      chosen.set(name, { value: parsed(command, name, value), from });
    }
    for (const name of chosen.keys()) taken.add(name);
  }
  const labels = joinedLabels(given.label, layers);
  if (labels) chosen.set('label', labels);
  return chosen;
}

function parsed(command: JobCommand, name: string, value: unknown): unknown {
  if (lists[command].has(name)) return [value].flat();
  return typeof value === 'number' ? String(value) : value;
}

function joinedLabels(given: unknown, layers: readonly Layer[]): Default | undefined {
  const own = Array.isArray(given) ? given.map(String) : [];
  const known = new Set(own.map((pair) => pair.split('=')[0]));
  const pairs: string[] = [];
  const sources: string[] = [];
  for (const { from, values } of layers) {
    const added = Object.entries((values.labels ?? {}) as Readonly<Record<string, string>>).filter(
      ([name]) => !known.has(name),
    );
    if (added.length > 0) sources.push(from);
    for (const [name, value] of added) {
      known.add(name);
      pairs.push(`${name}=${value}`);
    }
  }
  return pairs.length === 0 ? undefined : { value: [...pairs, ...own], from: sources.join(', ') };
}
