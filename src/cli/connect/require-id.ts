/** Checks the id of a job or a batch on the command line, before anything is loaded or started. */

import { jobIdShapeProblem } from '../../addresses/addresses.js';
import { isSandboxId } from '../../contract/workflow-safe/ids.js';
import type { Parent } from '../command.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';

/** Checks the id that a subcommand takes as its first argument, before the subcommand reads settings or loads modules. */
export function requireIdFirst(parent: Parent): void {
  parent.hook('preAction', (_, command) => {
    const name = command.registeredArguments[0]?.name();
    const id: unknown = command.processedArgs[0];
    if ((name !== 'job' && name !== 'batch') || typeof id !== 'string') return;
    if (isSandboxId(id)) {
      throw new UsageError(`${id} is a sandbox, not a ${name}. To see it: ${programName} sandboxes show ${id}`);
    }
    const problem = jobIdShapeProblem(id);
    if (problem) throw new UsageError(`The ${name} id ${problem}.`);
  });
}
