/** Which code a worker's workflows run. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, type WorkerOptions } from '@temporalio/worker';
import { apiCallsHeader } from '../contract/workflow-safe/counted-result.js';
import { earlyQueryText } from '../contract/workflow-safe/early-query.js';
import { SandflowError } from '../contract/workflow-safe/sandflow-error.js';
import { failureConverterPath } from '../encryption/index.js';
import { workflowTypes } from '../protocol/messages.js';
import { requireOneCopy } from '../temporal/own-copy.js';

const interceptorPath = (name: string) =>
  fileURLToPath(new URL(`../../workflows/shared/${name}${extname(import.meta.url)}`, import.meta.url));

/**
 * Options of Temporal's `bundleWorkflowCode` for a bundle that you pass as `workflowBundle`. It contains
 * interceptors: one protects workflows against early queries, one counts the calls that `apiCalls` of results shows.
 */
export const unencryptedBundle = {
  workflowInterceptorModules: [interceptorPath('refuse-early-queries'), interceptorPath('count-api-calls')],
};

/** As `unencryptedBundle`, for `createEncryptedDataConverter`. */
export const encryptedBundle = {
  failureConverterPath,
  workflowInterceptorModules: [...unencryptedBundle.workflowInterceptorModules, interceptorPath('refuse-clear-input')],
};

/** The parts of `SandflowWorkerOptions` that decide which code the workflows run. */
export interface WorkflowSourceOptions {
  readonly workflowBundle?: WorkerOptions['workflowBundle'];
  readonly workflowsPath?: string;
  readonly dataConverter?: DataConverter;
}

/**
 * Returns the options of Temporal's worker for the code of the workflows.
 * @throws SandflowError `bad_argument` if a bundle lacks sandflow's workflows or its interceptors, or has two copies of
 * `@temporalio/workflow`
 */
export async function workflowSource(options: WorkflowSourceOptions): Promise<Partial<WorkerOptions>> {
  if (options.workflowBundle) return { workflowBundle: await checked(options.workflowBundle) };
  if (options.workflowsPath !== undefined) return { workflowBundle: await bundleOf(options.workflowsPath, options) };
  const { payloadConverterPath, failureConverterPath: ofFailures } = options.dataConverter ?? {};
  const encrypted = ofFailures === encryptedBundle.failureConverterPath;
  const isBuilt = payloadConverterPath === undefined && (ofFailures === undefined || encrypted);
  const codePath = isBuilt ? workflowBundlePath({ encrypted }) : undefined;
  if (codePath !== undefined) return { workflowBundle: { codePath } };
  const { workflowInterceptorModules: workflowModules } = encrypted ? encryptedBundle : unencryptedBundle;
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.js', import.meta.url));
  return { interceptors: { workflowModules }, workflowsPath };
}

async function checked(bundle: NonNullable<WorkerOptions['workflowBundle']>) {
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  requireOneCopy(code);
  // Each is a text of one interceptor.
  if ([earlyQueryText, apiCallsHeader].every((text) => code.includes(text))) return bundle;
  const mend = 'pass `unencryptedBundle` or `encryptedBundle` to `bundleWorkflowCode`';
  throw new SandflowError('bad_argument', `The workflow bundle lacks an interceptor of sandflow: ${mend}.`);
}

async function bundleOf(workflowsPath: string, { dataConverter }: WorkflowSourceOptions) {
  const { payloadConverterPath, failureConverterPath: ofFailures } = dataConverter ?? {};
  const encrypted = ofFailures === encryptedBundle.failureConverterPath;
  const bundle = await bundleWorkflowCode({
    ...(encrypted ? encryptedBundle : unencryptedBundle),
    workflowsPath,
    payloadConverterPath,
    failureConverterPath: ofFailures,
    logger: new DefaultLogger('WARN'),
  });
  requireOneCopy(bundle.code);
  const missing = Object.values(workflowTypes).filter((type) => !bundle.code.includes(`function ${type}(`));
  if (missing.length === 0) return bundle;
  const mend = "add the line `export * from 'sandflow/workflows';`";
  throw new SandflowError('bad_argument', `${workflowsPath} lacks the workflows ${missing.join(', ')}: ${mend}.`);
}

/**
 * Returns the path of the workflow bundle of the build; undefined if this runs from sources that were not built.
 * @param encrypted true for the bundle that encodes failures and refuses unencrypted input, for
 *   `createEncryptedDataConverter`
 * @example
 * const codePath = workflowBundlePath();
 * if (codePath) await Worker.create({ connection, taskQueue, workflowBundle: { codePath } });
 */
export function workflowBundlePath({ encrypted = false } = {}): string | undefined {
  const name = encrypted ? 'workflow-bundle-encrypted.js' : 'workflow-bundle.js';
  const built = join(dirname(fileURLToPath(import.meta.url)), '..', '..', name);
  return existsSync(built) ? built : undefined;
}
