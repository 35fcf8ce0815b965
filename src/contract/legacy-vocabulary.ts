/**
 * The vocabulary before the rename (specification, "Versioning"): what says `sandbox` now said `box`. One exchange of
 * the two words serves both directions, and doing it twice gives back what was there. No dependencies.
 */

/** In a key: the word at its beginning, or the same with a capital after it, alone or in the plural. */
const wordOfKey = /(?:^sandbox|^box|Sandbox|Box)(?=(?:es)?(?:[^a-z]|$))/g;

const otherWord: Readonly<Record<string, string>> = { sandbox: 'box', box: 'sandbox', Sandbox: 'Box', Box: 'Sandbox' };

/** Types, events and scope actions begin with the word; the preset and the error codes hold it between others. */
const wordOfName = /^(sandbox|box)(?=\.)|(?<=^(?:full-|api_key_))(sandbox|box)(?=$|_forbidden$)|^(sandbox|box)(?=_)/;

/** Keys whose strings are names of the interface. What a person may have written stands under no such key. */
const keysOfNames: ReadonlySet<string> = new Set(['type', 'code', 'events', 'action', 'actions', 'preset']);

/** Keys whose objects have names of the interface as keys. */
const mapsByName: ReadonlySet<string> = new Set(['presets']);

/** Keys whose values are not vocabulary of the service: variables of a command, secrets, messages of an agent. */
const opaqueKeys: ReadonlySet<string> = new Set(['env', 'set', 'data']);

/** "Unchanged by the rename: … the `sandboxId` field on API keys". */
const keysOfApiKeys: ReadonlySet<string> = new Set(['apiKey', 'apiKeys']);
const unchangedOnApiKeys: ReadonlySet<string> = new Set(['sandboxId', 'boxId']);

/** A key of JSON in the other vocabulary: `sandboxId` and `boxId`, `passBoxCredentials` and `passSandboxCredentials`. */
export function otherKey(key: string): string {
  return key.replace(wordOfKey, (word) => otherWord[word] ?? word);
}

/** A type, event, scope action, preset or error code in the other vocabulary. */
export function otherName(name: string): string {
  return name.replace(wordOfName, (word) => otherWord[word] ?? word);
}

/** A path in the other vocabulary: `/sandboxes/{sandboxId}` and `/boxes/{boxId}`. */
export function otherPath(path: string): string {
  return path.replace(/(?<=\/)(?:sandboxes|boxes)(?=\/|$)/g, (word) => (word === 'boxes' ? 'sandboxes' : 'boxes'));
}

/** JSON in the other vocabulary: its keys, and those of its strings that are names of the interface. */
export function otherVocabulary(value: unknown): unknown {
  return exchange(value, { names: false, mapByName: false, apiKey: false });
}

interface Place {
  readonly names: boolean;
  readonly mapByName: boolean;
  readonly apiKey: boolean;
}

function exchange(value: unknown, place: Place): unknown {
  if (typeof value === 'string') return place.names ? otherName(value) : value;
  if (Array.isArray(value)) return value.map((entry) => exchange(entry, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      if (place.apiKey && unchangedOnApiKeys.has(key)) return [key, entry];
      if (place.mapByName) return [otherName(key), exchange(entry, { ...place, names: true, mapByName: false })];
      if (opaqueKeys.has(key)) return [key, entry];
      const below = {
        names: keysOfNames.has(key),
        mapByName: mapsByName.has(key),
        apiKey: place.apiKey || keysOfApiKeys.has(key),
      };
      return [otherKey(key), exchange(entry, below)];
    }),
  );
}
