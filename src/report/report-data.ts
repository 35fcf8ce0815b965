/** What the report of a batch is made from. Types only. */
import type { FanoutProgress, FanoutResult, ItemResult } from '../../workflows/fanout/types.js';

export interface FanoutReportData {
  /** The batch; of one that still runs, how far it is. */
  readonly result: FanoutResult | FanoutProgress;
  /** The newest result of each item that has one, in any order. */
  readonly items: readonly ItemResult[];
  /** Beginnings of collected text files, by their reference in the result store. A file without one is only listed. */
  readonly previews: ReadonlyMap<string, string>;
  /** When the report is made; ISO 8601. */
  readonly generatedAt: string;
}
