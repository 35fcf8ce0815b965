/**
 * What requests have beyond the specification's words, or leave out: a service may call its own headers otherwise, and
 * refuse what sandflow adds (assumptions `A-header-family`, `A-request-form`). The default is what the specification shows.
 */

/** How the names of the service's own headers begin, in lower case. "Shown here as", says the specification ("Versioning"). */
export const ownHeaderPrefix = 'x-svc-';

/** The fields that sandflow adds to creates and forks, and can do without. */
export const omittableFields = ['name', 'ttlSeconds'] as const;
/** One of `omittableFields`. */
export type OmittableField = (typeof omittableFields)[number];

/** How requests differ from those that the specification shows. */
export interface RequestForm {
  /** How the names of the service's own headers begin, such as `X-Box-`. Default: `X-Svc-`. */
  readonly headerPrefix?: string;
  /**
   * Fields that creates and forks leave out. Default: none. Without `name`, a job sends each create twice with the same key,
   * to see that the key is kept, and then renames or leases its sandbox. Without `ttlSeconds`, the sandbox has the auto-stop of the service
   * until the first renewal, after half of the job's, and keeps it if the job has none.
   */
  readonly omit?: readonly OmittableField[];
  /** True for idempotency keys that are UUIDs, made from the keys. Default: false. */
  readonly uuidKeys?: boolean;
}

/** True for how names of headers can begin, in lower case. */
export function isHeaderPrefix(text: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,60}-$/.test(text);
}

/** The header that confirms a permanent deletion. Its value is the id of the deleted resource. */
export function confirmHeaderIn({ headerPrefix = ownHeaderPrefix }: RequestForm): string {
  return `${headerPrefix.toLowerCase()}confirm-delete`;
}
