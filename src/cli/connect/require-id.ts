/** Checks the id of a job or a batch on the command line, before anything is loaded or started. */

import { jobIdProblem, jobIdShapeProblem } from '../../addresses/addresses.js';
import type { Config } from '../../config.js';
import { isSandboxId } from '../../contract/workflow-safe/ids.js';
import type { Parent } from '../command.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';

type Named = 'job' | 'batch';

/** @throws UsageError if no job of the deployment can have this id */
export function requireId({ deployment }: Pick<Config, 'deployment'>, id: string, what: Named): void {
  refuse(jobIdProblem(deployment, id), what);
}

/** Checks the id that a subcommand takes as its first argument, before the subcommand reads settings or loads modules. */
export function requireIdFirst(parent: Parent): void {
  parent.hook('preAction', (_, command) => {
    const name = command.registeredArguments[0]?.name();
    const id: unknown = command.processedArgs[0];
    if ((name !== 'job' && name !== 'batch') || typeof id !== 'string') return;
    if (isSandboxId(id)) {
      throw new UsageError(`${id} is a sandbox, not a ${name}. To see it: ${programName} sandboxes show ${id}`);
    }
    refuse(jobIdShapeProblem(id), name);
  });
}

function refuse(problem: string | undefined, what: Named): void {
  if (problem) throw new UsageError(`The ${what} id ${problem}.`);
}
