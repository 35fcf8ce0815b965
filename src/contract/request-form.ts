/**
 * What requests have beyond the specification's words, or leave out: a service may call its own headers otherwise, and
 * refuse what sandflow adds (assumptions `A-header-family`, `A-request-form`). The default is what the specification shows.
 */

/** How the names of the service's own headers begin, in lower case. "Shown here as", says the specification ("Versioning"). */
export const ownHeaderPrefix = 'x-svc-';

/** The fields that sandflow adds to creates, forks and webhooks, and can do without. */
export const omittableFields = ['name', 'ttlSeconds', 'events'] as const;
/** One of `omittableFields`. */
export type OmittableField = (typeof omittableFields)[number];

/** How requests differ from those that the specification shows. */
export interface RequestForm {
  /** How the names of the service's own headers begin, such as `X-Box-`. Default: `X-Svc-`. */
  readonly headerPrefix?: string;
  /**
   * Fields that a create, a fork and the registration of a webhook leave out. Without `name`, a job knows its sandbox by
   * its idempotency key alone, and a cleanup does not see whose it is. Default: none.
   */
  readonly omit?: readonly OmittableField[];
  /** True for idempotency keys that are UUIDs, made from the keys. Default: false. */
  readonly uuidKeys?: boolean;
}

/** The header that confirms a permanent deletion. Its value is the id of the deleted resource. */
export function confirmHeaderIn({ headerPrefix = ownHeaderPrefix }: RequestForm): string {
  return `${headerPrefix.toLowerCase()}confirm-delete`;
}
