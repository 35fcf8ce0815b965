/** The workflows of a build whose jobs do something else first. */
import { sleep } from '@temporalio/workflow';
import * as workflows from '../../../workflows/index.js';

export * from '../../../workflows/index.js';

export async function createThenPrompt(...input: Parameters<typeof workflows.createThenPrompt>) {
  await sleep(1_000);
  return workflows.createThenPrompt(...input);
}
