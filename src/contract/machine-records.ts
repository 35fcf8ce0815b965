/** Records of what runs on a machine and of what was kept of it; read liberally, as those in `records.ts`. */
import { z } from 'zod';

const dateTime = z.string().nullish();

/** Specification, "Process entry". */
export const processSchema = z.looseObject({
  pid: z.number(),
  command: z.string(),
  parentPid: z.number().optional(),
  user: z.string().optional(),
  cpuPercent: z.number().optional(),
  memoryMB: z.number().optional(),
  startedAt: dateTime,
  commandId: z.string().nullish(),
});
export type ProcessEntry = z.infer<typeof processSchema>;

/** Assumption: the snapshot record is not shown by the specification. */
export const snapshotSchema = z.looseObject({
  id: z.string(),
  sandboxId: z.string().nullish(),
  name: z.string().nullish(),
  status: z.string().optional(),
  sizeBytes: z.number().nullish(),
  createdAt: dateTime,
  completedAt: dateTime,
});
export type Snapshot = z.infer<typeof snapshotSchema>;

/** Assumption: the entry of a snapshot's file tree is not shown by the specification. */
export const treeEntrySchema = z.looseObject({
  path: z.string(),
  type: z.string(),
  size: z.number().nullish(),
  modifiedAt: dateTime,
});
export type TreeEntry = z.infer<typeof treeEntrySchema>;
