/** What a secret store is, and the names of secrets. They are the same in each keeper, so that a store can be moved. */
import { SandflowError } from '../errors/sandflow-error.js';
import { keepSecret } from '../secrecy/known-secrets.js';

const scheme = 'secret-store:';
const namePattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;

export const isSecretName = (name: string) => namePattern.test(name);

export const refOf = (name: string) => scheme + name;

/** @throws SandflowError `secret_not_found`, `bad_secret_name` */
export function nameOf(ref: string): string {
  if (ref.startsWith(scheme)) return checkedName(ref.slice(scheme.length));
  throw new SandflowError('secret_not_found', 'This reference belongs to another secret store.');
}

/** @throws SandflowError `bad_secret_name` */
export function checkedName(name: string): string {
  if (isSecretName(name)) return name;
  throw new SandflowError(
    'bad_secret_name',
    'The name of a secret must be 1 to 128 letters, digits, dots, dashes and underscores, and must not begin with a dot.',
  );
}

export function notKept(store: string, name: string, cause?: unknown): SandflowError {
  const message = `The secret store at ${store} has no "${name}". Do the workers share it?`;
  return new SandflowError('secret_not_found', message, { cause });
}

/** A value of several lines is a file, such as the variables of an environment, most of whose lines are no secrets. */
export function keepLine(value: string): void {
  if (!value.trim().includes('\n')) keepSecret(value);
}

/** Keeps secrets that the service shows once. Workflows get their references. */
export interface SecretStore {
  /**
   * Stores `value` under `name`. Safe to repeat: the last value counts, and no reader sees a part of a value.
   * @param name 1 to 128 characters of `a-z A-Z 0-9 . _ -`, not beginning with a dot
   * @returns the reference that `get` and `delete` take; it contains the name and no secret
   * @throws SandflowError `bad_secret_name`, `secret_store_unwritable`
   */
  put(name: string, value: string): Promise<string>;
  /** @throws SandflowError `secret_not_found` */
  get(ref: string): Promise<string>;
  /** Safe to repeat: a missing secret is not an error. */
  delete(ref: string): Promise<void>;
  /** The names of all secrets, sorted. */
  list(): Promise<string[]>;
  /** A worker calls this at its start. Omitted: the worker starts without a check. */
  checkWritable?(): Promise<void>;
}
