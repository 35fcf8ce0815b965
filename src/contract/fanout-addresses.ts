/**
 * Where the parts of a batch are: workflows, sandboxes, objects in the result store; and how large they may be.
 * No dependencies: workflow code imports this file.
 */
import { itemWorkflowId, jobWorkflowId } from './addresses.js';

/** A chunk is one message of Temporal and one workflow; its history holds the starts of all its items. */
export const maxItemsInChunk = 100;
/** Temporal takes 2 MiB in a payload and 4 MiB in a message; what a chunk is wrapped in needs some of it. */
export const maxBytesInChunk = 1_000_000;
/** Temporal warns of payloads from 512 KiB on, so only a single item that is larger makes a larger chunk. */
export const usualBytesInChunk = 500_000;
/** The batch's own state grows with its chunks and is one payload when it continues as new. */
export const maxChunks = 1_000;
/** Each try is a fork of its own, and costs as much as the first. */
export const maxRetries = 10;

/** The workflow of the chunk `chunk` of a batch. */
export function chunkWorkflowId(deployment: string, batchId: string, chunk: number): string {
  return `${jobWorkflowId(deployment, batchId)}/chunk-${chunk}`;
}

/** Everything of a batch in the result store begins with this. */
export function fanoutPrefix(deployment: string, batchId: string, batchKey: string): string {
  return `fanout/${jobWorkflowId(deployment, batchId)}/${batchKey}`;
}

/** The workflows and objects of one batch. */
export function fanoutPlaces(batch: {
  readonly deployment: string;
  readonly batchId: string;
  readonly batchKey: string;
}) {
  const { deployment, batchId, batchKey } = batch;
  const prefix = fanoutPrefix(deployment, batchId, batchKey);
  return {
    chunkWorkflow: (chunk: number) => chunkWorkflowId(deployment, batchId, chunk),
    itemWorkflow: (index: number) => itemWorkflowId(deployment, batchId, index),
    /** Items as they were submitted: what a resume reads. */
    chunk: (chunk: number) => `${prefix}/chunks/${chunk}.json`,
    chunks: `${prefix}/chunks`,
    /** Written once every chunk is known. */
    seal: `${prefix}/chunks/seal.json`,
    /** Holds `<generation>.json` for each generation of an item that has ended. */
    item: (index: number) => `${prefix}/items/${index}`,
    results: `${prefix}/results.jsonl`,
    summary: `${prefix}/batch.json`,
  } as const;
}
export type FanoutPlaces = ReturnType<typeof fanoutPlaces>;

/** @param prefix of the item's objects */
export function itemRecords(prefix: string) {
  return {
    /** That the key of a generation's fork was sent: see `activities/retry/recorded-call.ts`. */
    key: (generation: number) => `${prefix}/keys/${generation}.json`,
  } as const;
}
