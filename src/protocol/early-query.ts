/** How a worker refuses a query that arrived before the workflow task for the latest events of a workflow. */

/**
 * The text by which clients recognise the refusal: Temporal passes on nothing else. `src/encryption/failure-converter.cjs`
 * repeats it, and leaves it readable.
 */
export const earlyQueryText = 'The query arrived before the workflow task for the latest events. Ask again.';

/** The optional argument of every query. */
export interface QueryOptions {
  /**
   * The id of the run if it has ended. Such a run has no more workflow tasks, so the query is answered although no task
   * has processed the last events. A client may send it only after Temporal has described the run as closed: it damages
   * a running workflow.
   */
  readonly ofClosedRun?: string;
}
