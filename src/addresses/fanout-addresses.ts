/**
 * The addresses of the parts of a batch: workflows, and objects in the result store.
 * No dependencies: workflow code imports this file.
 */
import { itemWorkflowId, jobWorkflowId } from './addresses.js';

/** The id of the workflow for the chunk with the number `chunk`. */
export function chunkWorkflowId(deployment: string, batchId: string, chunk: number): string {
  return `${jobWorkflowId(deployment, batchId)}/chunk-${chunk}`;
}

/** The prefix of all objects of a batch in the result store. */
export function fanoutPrefix(deployment: string, batchId: string, batchKey: string): string {
  return `fanout/${jobWorkflowId(deployment, batchId)}/${batchKey}`;
}

/**
 * Identifies a batch. `batchKey` is the run id of its first execution and does not change when the batch is resumed.
 */
export interface FanoutPlace {
  readonly deployment: string;
  readonly batchId: string;
  /** Run id of the first execution of the batch. */
  readonly batchKey: string;
}

/** The workflows and objects of one batch. */
export function fanoutPlaces({ deployment, batchId, batchKey }: FanoutPlace) {
  const prefix = fanoutPrefix(deployment, batchId, batchKey);
  return {
    chunkWorkflow: (chunk: number) => chunkWorkflowId(deployment, batchId, chunk),
    itemWorkflow: (index: number) => itemWorkflowId(deployment, batchId, index),
    /** Contains the items in their submitted form. A resume reads them. */
    chunk: (chunk: number) => `${prefix}/chunks/${chunk}.json`,
    chunks: `${prefix}/chunks`,
    /** Contains the items of a chunk that have changed since. */
    changedChunk: (set: string, chunk: number) => `${prefix}/changed/${set}/${chunk}.json`,
    /** Written once every chunk is known. */
    seal: `${prefix}/chunks/seal.json`,
    items: `${prefix}/items`,
    /** Holds a `<generation>.json` for each ended generation of the item. */
    item: (index: number) => `${prefix}/items/${index}`,
    results: `${prefix}/results.jsonl`,
    summary: `${prefix}/batch.json`,
  } as const;
}
export type FanoutPlaces = ReturnType<typeof fanoutPlaces>;

/** @param prefix the prefix of the item's objects */
export function itemRecords(prefix: string) {
  const keys = `${prefix}/keys`;
  return {
    keys,
    /** Records that the key of a generation's fork was sent; see `activities/retry/recorded-call.ts`. */
    key: (generation: number) => `${keys}/${generation}.json`,
  } as const;
}
