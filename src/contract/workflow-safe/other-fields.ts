/** No dependencies: workflow code imports this file. */

/**
 * Fields of a body that the specification does not show. They are sent unchanged. The specification says "other
 * create-body fields are not shown", and this is also true of a prompt.
 */
export interface OtherFields {
  readonly [field: string]: unknown;
}
