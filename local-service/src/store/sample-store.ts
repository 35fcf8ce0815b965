/** The last process sample of each sandbox (specification, GET /sandboxes/{sandboxId}/processes). */
import type { Database } from './database.js';

/** A process as it is shown. */
export interface SampledProcess {
  readonly pid: number;
  readonly command: string;
  readonly parentPid: number;
  readonly user: string;
  readonly cpuPercent: number;
  readonly memoryMB: number;
  readonly startedAt: string;
  /** Left out if no command started it. */
  readonly commandId?: string;
}

export interface SampleRecord {
  readonly sandboxId: string;
  readonly sampledAt: number;
  /** The number of processes at that time; `processes` may hold fewer. */
  readonly total: number;
  readonly processes: readonly SampledProcess[];
}

interface SampleRow extends Omit<SampleRecord, 'processes'> {
  readonly processes: string;
}

export function createSampleStore(database: Database) {
  const get = database.prepare<SampleRow>('SELECT * FROM process_samples WHERE sandboxId = ?');
  const put = database.prepare('INSERT OR REPLACE INTO process_samples VALUES (?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM process_samples WHERE sandboxId = ?');
  const removeOld = database.prepare('DELETE FROM process_samples WHERE sampledAt < ?');
  return {
    get(sandboxId: string) {
      const row = get.get(sandboxId);
      return row && { ...row, processes: JSON.parse(row.processes) as SampledProcess[] };
    },
    /** Stores a sample in place of the sandbox's last one. */
    put: ({ sandboxId, sampledAt, total, processes }: SampleRecord) =>
      void put.run(sandboxId, sampledAt, total, JSON.stringify(processes)),
    remove: (sandboxId: string) => void remove.run(sandboxId),
    removeTakenBefore: (ms: number) => void removeOld.run(ms),
  };
}
