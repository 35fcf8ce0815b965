/**
 * Refuses objects and code of another copy of Temporal's SDK. They would fail later, and the errors there do not name
 * the cause: `failed to downcast`, `Cannot read private member`.
 */
import { createRequire } from 'node:module';
import { Client } from '@temporalio/client';
import { SandflowError } from '../errors/sandflow-error.js';
import { requireOptions } from '../settings/required-options.js';

/** @throws SandflowError `bad_argument` if the client is missing, or comes from another copy of `@temporalio/client` */
export function requireClient(client: unknown, name = 'client'): void {
  requireOptions({ [name]: client }, { [name]: 'an object' });
  requireOwnCopy(client, { name, own: Client, sdkPackage: '@temporalio/client' });
}

/** What `requireOwnCopy` compares the object with. */
export interface OwnCopy {
  /** The name of the option or argument that has the object. */
  readonly name: string;
  /** The class of the copy that sandflow loads. */
  readonly own: object;
  /** The package of the class. */
  readonly sdkPackage: string;
}

/**
 * Accepts an instance of sandflow's copy, and an object that only looks like one, as in a test.
 * @throws SandflowError `bad_argument` for an object of another copy, with the versions of both
 */
export function requireOwnCopy(value: unknown, { name, own, sdkPackage }: OwnCopy): void {
  const classes = classesOf(value);
  if (classes.includes(own) || !classes.some((one) => nameOf(one) === nameOf(own))) return;
  const { version, others } = loadedVersions(sdkPackage);
  if (others.length === 0) return;
  const found = `${name} comes from another copy of ${sdkPackage} (${others.join(', ')}) than sandflow's (${version})`;
  throw new SandflowError('bad_argument', `${found}. ${installOne(sdkPackage)}`);
}

/**
 * @param code the code of a workflow bundle
 * @throws SandflowError `bad_argument` if your workflows and those of sandflow brought a copy of the SDK each
 */
export function requireOneCopy(code: string): void {
  const named = [...code.matchAll(/"([^"\n]*@temporalio\/workflow)\/lib\/cancellation-scope\.js"/g)];
  const copies = new Set(named.map(([, folder]) => folder));
  if (copies.size < 2) return;
  const found = `The workflow bundle has several copies of @temporalio/workflow (${[...copies].sort().join(', ')})`;
  throw new SandflowError('bad_argument', `${found}. ${installOne('@temporalio/workflow')}`);
}

function installOne(sdkPackage: string): string {
  return `Name one version of @temporalio/* that sandflow allows; \`npm ls ${sdkPackage}\` lists all.`;
}

function classesOf(value: unknown): object[] {
  const classes: object[] = [];
  for (let at: unknown = value; typeof at === 'object' && at !== null; at = Object.getPrototypeOf(at)) {
    if (typeof at.constructor === 'function') classes.push(at.constructor);
  }
  return classes;
}

const nameOf = (one: object): unknown => Reflect.get(one, 'name');

/** Each copy of a package of the SDK loads its own `package.json`. */
function loadedVersions(sdkPackage: string): { readonly version: string; readonly others: readonly string[] } {
  const load = createRequire(import.meta.url);
  const file = `${sdkPackage}/package.json`;
  const own = load.resolve(file);
  const copies = Object.entries(load.cache).filter(([path]) => path.replaceAll('\\', '/').endsWith(`/${file}`));
  const others = copies.filter(([path]) => path !== own).map(([, loaded]) => String(loaded?.exports.version));
  return { version: load(file).version, others };
}
