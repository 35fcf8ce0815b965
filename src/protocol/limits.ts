/**
 * The limits of jobs and batches. A payload over 2 MiB makes Temporal terminate the workflow without running its code.
 */
import { maxFileBytes } from '../contract/workflow-safe/limits.js';

/** The longest text that is sent inline, in bytes. Longer texts are sent as references. */
export const maxInlineTextBytes = 32 * 1024;
/** The most bytes that all inline texts of one input may have together. */
export const maxInlineBytes = 150_000;
/** The longest text that is accepted at all, in bytes: the content of a file is a text too. */
export const maxTextBytes = maxFileBytes;
/** The longest input of a job, without its stored texts, in bytes. The input is sent together with the job's state. */
export const maxJobInputBytes = 600_000;
/** If the result of a job is longer than this, in bytes, its texts are cut. */
export const maxJobResultBytes = 1_000_000;
/** The longest result of an activity, in bytes. */
export const maxActivityResultBytes = 1_500_000;
/** The most prompts, files, commands or paths of one job, including those that are added while it runs. */
export const maxSteps = 1_000;

/** The most prompts that the follower of prompts names at once: more may exceed 512 KiB, of which Temporal warns. */
export const maxFollowedInAnswer = 3_000;

/** The longest time of one command, in seconds, if its job does not end before. */
export const longestCommandSeconds = 3_600;
/** The most steps of an escalation. */
export const maxEscalationSteps = 20;
/** The longest random delay of a schedule, in ms. */
export const longestJitterMs = 86_400_000;
/** How long after its time a missed run of a schedule may start, in ms, unless it says otherwise. */
export const defaultCatchUpMs = 86_400_000;
/** The same, at most. */
export const longestCatchUpMs = 366 * 86_400_000;

/** How long a job may take to end its sandbox after its deadline, in ms, if its timing does not say otherwise. */
export const defaultCleanUpMs = 900_000;

/** How often an item is tried again after failures that are neither the agent's nor of a setting, in all. */
export const freeRetries = 3;

/**
 * Limited, because a chunk is one message to Temporal and one workflow, whose history contains the starts of all its
 * items.
 */
export const maxItemsInChunk = 100;
/**
 * Temporal accepts 2 MiB in a payload and 4 MiB in a message. A chunk must be smaller, because the message contains
 * other data too.
 */
export const maxBytesInChunk = 1_000_000;
/** Temporal warns about payloads of more than 512 KiB. Only a chunk with a single large item exceeds this size. */
export const usualBytesInChunk = 500_000;
/**
 * Bounded, because the state of the batch grows with its chunks, and is one payload when the workflow continues as new.
 */
export const maxChunks = 1_000;

/** The most files, folders and links of one folder to put. */
export const maxFolderEntries = 100_000;
/** The most bytes of the files of one folder to put, before they are packed. */
export const maxFolderBytes = 1024 ** 3;
/** The most parts of a packed folder: more than such a folder has, even if packing makes it larger. */
export const maxFolderParts = 64;
/** The most files, folders and links that are unpacked of one collected folder. */
export const maxUnpackedEntries = 1_000_000;
/** The most bytes that are unpacked of one collected folder. */
export const maxUnpackedBytes = 16 * 1024 ** 3;
