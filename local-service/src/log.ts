/** Receives reports of failures of the local service. Default: no log. Fields never contain a secret. */
export type Log = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** The message of an error, for a log or a record. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
