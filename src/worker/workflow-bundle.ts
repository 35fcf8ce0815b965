/** Which code a worker's workflows run. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, type WorkerOptions } from '@temporalio/worker';
import { failureConverterPath } from '../encryption/index.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { apiCallsHeader } from '../protocol/counted-result.js';
import { earlyQueryText } from '../protocol/early-query.js';
import { keepsStacks } from '../protocol/workflow-stacks.js';
import { requireOneCopy } from '../temporal/own-copy.js';

const workflowModule = (name: string) =>
  fileURLToPath(new URL(`../../workflows/${name}${extname(import.meta.url)}`, import.meta.url));
const interceptors = ['refuse-early-queries', 'count-api-calls', 'drop-empty-signals'].map((name) =>
  workflowModule(`shared/${name}`),
);

/**
 * Options of Temporal's `bundleWorkflowCode` for a bundle that you pass as `workflowBundle`. It contains
 * interceptors: one protects workflows against early queries, one counts the calls that `apiCalls` of results shows, one
 * drops signals without their argument. The modules of sandflow's workflows are loaded once for all workflows
 * of a worker.
 */
export const unencryptedBundle = {
  workflowInterceptorModules: interceptors,
  preloadModules: [workflowModule('shared/without-stacks'), workflowModule('index'), ...interceptors],
};

/** As `unencryptedBundle`, for `createEncryptedDataConverter`. */
export const encryptedBundle = {
  ...unencryptedBundle,
  failureConverterPath,
  workflowInterceptorModules: [...interceptors, workflowModule('shared/refuse-clear-input')],
};

/** The parts of `SandflowWorkerOptions` that decide which code the workflows run. */
export interface WorkflowSourceOptions {
  readonly workflowBundle?: WorkerOptions['workflowBundle'];
  readonly workflowsPath?: string;
  readonly dataConverter?: DataConverter;
  readonly workflowStacks?: boolean;
}

/**
 * Returns the options of Temporal's worker for the code of the workflows.
 * @throws SandflowError `bad_argument` if a bundle lacks sandflow's workflows or its interceptors, or has two copies of
 * `@temporalio/workflow`
 */
export async function workflowSource(options: WorkflowSourceOptions): Promise<Pick<WorkerOptions, 'workflowBundle'>> {
  const workflowBundle = await bundleFor(options);
  if (!options.workflowStacks) return { workflowBundle };
  return { workflowBundle: { code: `globalThis.${keepsStacks} = true;${await codeOf(workflowBundle)}` } };
}

type Bundle = NonNullable<WorkerOptions['workflowBundle']>;

async function bundleFor(options: WorkflowSourceOptions): Promise<Bundle> {
  if (options.workflowBundle) return checked(options.workflowBundle);
  if (options.workflowsPath !== undefined) return bundleOf(options.workflowsPath, options);
  const { payloadConverterPath, failureConverterPath: ofFailures } = options.dataConverter ?? {};
  const encrypted = ofFailures === encryptedBundle.failureConverterPath;
  const isBuilt = payloadConverterPath === undefined && (ofFailures === undefined || encrypted);
  const codePath = isBuilt ? workflowBundlePath({ encrypted }) : undefined;
  return codePath === undefined ? bundleOf(workflowModule('index'), options) : { codePath };
}

async function codeOf(bundle: Bundle): Promise<string> {
  return 'code' in bundle ? bundle.code : readFile(bundle.codePath, 'utf8');
}

async function checked(bundle: Bundle): Promise<Bundle> {
  const code = await codeOf(bundle);
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
  if (requiresWorkflows(bundle.code)) return bundle;
  const mend = "add the line `export * from 'sandflow/workflows';`";
  throw new SandflowError('bad_argument', `${workflowsPath} lacks the workflows of sandflow: ${mend}.`);
}

/** True if a module of the bundle requires sandflow's workflows. That they are preloaded is no sign of it. */
function requiresWorkflows(code: string): boolean {
  const preloaded = /preloadModules\(\) \{([^}]*)\}/.exec(code)?.[1] ?? '';
  const id = /"([^"]*\/workflows\/index\.[jt]s)"/.exec(preloaded)?.[1];
  return id !== undefined && code.split(`"${id}")`).length > 2;
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
