/** Where a worker keeps secrets that the service shows once, so that workflows see references and never the secrets. */

export interface SecretStore {
  /**
   * Keeps `value` under `name`. Safe to repeat: the last one wins, and no reader sees half of one.
   * @param name 1 to 128 of `a-z A-Z 0-9 . _ -`, not beginning with a dot
   * @returns the reference that `get` and `delete` take; it holds the name and nothing secret
   * @throws SandflowError `bad_secret_name`, `secret_store_unwritable`
   */
  put(name: string, value: string): Promise<string>;
  /** @throws SandflowError `secret_not_found` */
  get(ref: string): Promise<string>;
  /** Safe to repeat: what is not there is no error. */
  delete(ref: string): Promise<void>;
  /** The names, in order. */
  list(): Promise<string[]>;
}
