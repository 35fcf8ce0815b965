/** Starts files first that wait for a time of the product, so that none of them runs alone at the end of its group. */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const waitingFiles = [
  'test/extended/e2e/load/shared-stack.test.ts',
  'test/e2e/faults/kill-each-part.test.ts',
  'test/slow/e2e/runbook/lost-sandbox.test.ts',
];

export class WaitingFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isWaiting = ({ moduleId }: TestSpecification) =>
      waitingFiles.includes(relative(this.ctx.config.root, moduleId));
    return [...sorted.filter(isWaiting), ...sorted.filter((file) => !isWaiting(file))];
  }
}
