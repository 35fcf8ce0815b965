/** Records of processes and snapshots. They are read liberally, as the records in `records.ts` are. */
import { z } from 'zod';
import { dateTimeOrNull, openEnum, snapshotStatuses } from './sandbox-records.js';
import { shortText } from './short-text.js';

/** Specification, "Process entry". */
export const processSchema = z
  .looseObject({
    pid: z.number(),
    command: z.string(),
    parentPid: z.number().optional(),
    user: z.string().optional(),
    cpuPercent: z.number().optional(),
    memoryMB: z.number().optional(),
    startedAt: dateTimeOrNull('When it was started'),
    commandId: shortText().nullish().describe('The command that started it'),
  })
  .meta({ id: 'Process', description: 'A process in a sandbox' });
export type ProcessEntry = z.infer<typeof processSchema>;

/** Assumption: the snapshot record is not shown by the specification. */
export const snapshotSchema = z
  .looseObject({
    id: shortText().describe('snap_ and 24 hex digits'),
    sandboxId: shortText().nullish(),
    name: z.string().nullish().describe('Set by PATCH of the sandbox. A create names it in from'),
    status: openEnum(snapshotStatuses, 'Status of the snapshot').optional(),
    sizeBytes: z.number().nullish(),
    createdAt: dateTimeOrNull('When it was started'),
    completedAt: dateTimeOrNull('When it was completed'),
  })
  .meta({ id: 'Snapshot', description: 'The saved disk of a sandbox' });
export type Snapshot = z.infer<typeof snapshotSchema>;

/** Assumption: the entry of a snapshot's file tree is not shown by the specification. */
export const treeEntrySchema = z
  .looseObject({
    path: z.string().describe('Path relative to the home directory'),
    type: openEnum(['file', 'directory', 'symlink'], 'Kind of entry'),
    size: z.number().nullish().describe('Bytes'),
    modifiedAt: dateTimeOrNull('When its content last changed'),
  })
  .meta({ id: 'TreeEntry', description: 'An entry of the file tree of a snapshot' });
export type TreeEntry = z.infer<typeof treeEntrySchema>;
