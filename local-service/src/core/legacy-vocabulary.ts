/**
 * Translates between the current vocabulary and the legacy one (specification, "Versioning"), which says `box` for
 * `sandbox`. The same function translates in both directions, because it exchanges the two words. No dependencies.
 */

/** The word in a key: in lower case at the beginning, or capitalised anywhere; singular or plural. */
const wordOfKey = /(?:^sandbox|^box|Sandbox|Box)(?=(?:es)?(?:[^a-z]|$))/g;

const otherWord: Readonly<Record<string, string>> = { sandbox: 'box', box: 'sandbox', Sandbox: 'Box', Box: 'Sandbox' };

/**
 * The word in a name. Types, events and scope actions begin with it; a preset and some error codes hold it elsewhere.
 */
const wordOfName = /^(sandbox|box)(?=\.)|(?<=^(?:full-|api_key_))(sandbox|box)(?=$|_forbidden$)|^(sandbox|box)(?=_)/;

/** Keys whose strings are names of the API. Text that a person wrote is never under one of these keys. */
const keysOfNames: ReadonlySet<string> = new Set(['type', 'code', 'events', 'action', 'actions', 'preset']);

/** Keys whose values are objects with names of the API as keys. */
const mapsByName: ReadonlySet<string> = new Set(['presets']);

/** Keys whose values are not translated: variables of a command, secrets, and messages of an agent. */
const opaqueKeys: ReadonlySet<string> = new Set(['env', 'set', 'data']);

/**
 * Keys under which `sandboxId` is not translated. The specification says: "Unchanged by the rename: … the `sandboxId`
 * field on API keys".
 */
const keysOfApiKeys: ReadonlySet<string> = new Set(['apiKey', 'apiKeys']);
const unchangedOnApiKeys: ReadonlySet<string> = new Set(['sandboxId', 'boxId']);

/**
 * Translates a key of JSON, for example `sandboxId` to `boxId`, or `passBoxCredentials` to `passSandboxCredentials`.
 */
export function otherKey(key: string): string {
  return key.replace(wordOfKey, (word) => otherWord[word] ?? word);
}

/** Translates a type, event, scope action, preset or error code. */
export function otherName(name: string): string {
  return name.replace(wordOfName, (word) => otherWord[word] ?? word);
}

/** Translates the word in the segments of a path: `/sandboxes/…` to `/boxes/…`, or back. */
export function otherPath(path: string): string {
  return path.replace(/(?<=\/)(?:sandboxes|boxes)(?=\/|$)/g, (word) => (word === 'boxes' ? 'sandboxes' : 'boxes'));
}

/** Translates JSON: its keys, and the strings that are names of the API. */
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
