/** Prints what each fault did to the jobs of each peer. */
import { table } from '../report.js';
import type { FaultResult } from './faults.js';

export function describeFaults(results: readonly FaultResult[]): string {
  const [{ jobs } = { jobs: 0 }] = results;
  const head = [
    `fault, ${jobs} jobs`,
    'peer',
    'jobs lost',
    'sandboxes doubled',
    'prompts doubled',
    'machines left running',
    'seconds',
  ];
  const rows = results.map((one) => [
    one.fault,
    one.peer,
    one.failed + one.unended,
    one.sandboxesTwice,
    one.promptsTwice,
    one.leftRunning,
    one.seconds.toFixed(0),
  ]);
  return table(head, rows);
}
