/** Which code a worker's workflows run. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type BundleOptions,
  type BundlerPlugin,
  bundleWorkflowCode,
  DefaultLogger,
  type WorkerOptions,
} from '@temporalio/worker';
import { failureConverterPath } from '../encryption/index.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { apiCallsHeader } from '../protocol/counted-result.js';
import { earlyQueryText } from '../protocol/early-query.js';
import { refusedSignalText } from '../protocol/refused-input.js';
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

/** Adds sandflow's interceptors and modules to the options of a bundle. Safe to repeat. */
export function withSandflow(options: BundleOptions): BundleOptions {
  const encrypted = options.failureConverterPath === encryptedBundle.failureConverterPath;
  const own = encrypted ? encryptedBundle : unencryptedBundle;
  const { workflowInterceptorModules = [], preloadModules = [] } = options;
  return {
    ...options,
    // Those of the user are outside: they see the results of activities without the numbers of calls.
    workflowInterceptorModules: [...new Set([...workflowInterceptorModules, ...own.workflowInterceptorModules])],
    preloadModules: [...new Set([...own.preloadModules, ...preloadModules])],
  };
}

/** The options that decide which code the workflows run. */
export interface WorkflowSourceOptions
  extends Pick<
    WorkerOptions,
    'workflowBundle' | 'workflowsPath' | 'dataConverter' | 'interceptors' | 'bundlerOptions' | 'plugins' | 'connection'
  > {
  readonly workflowStacks?: boolean;
}

/**
 * Makes the bundle, and takes what went into it from the options: the SDK would warn that it has no use for it.
 * @throws SandflowError `bad_argument` if a bundle lacks sandflow's workflows or its interceptors, or has two copies of
 * `@temporalio/workflow`
 */
export async function workflowSource(options: WorkflowSourceOptions): Promise<WorkflowSource> {
  const workflowBundle = await bundleFor(options);
  const source = options.workflowBundle
    ? {}
    : {
        workflowsPath: undefined,
        bundlerOptions: undefined,
        interceptors: { ...options.interceptors, workflowModules: undefined },
      };
  if (!options.workflowStacks) return { ...source, workflowBundle };
  return { ...source, workflowBundle: { code: `globalThis.${keepsStacks} = true;${await codeOf(workflowBundle)}` } };
}

type WorkflowSource = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'bundlerOptions' | 'interceptors'>;

type Bundle = NonNullable<WorkerOptions['workflowBundle']>;

async function bundleFor(options: WorkflowSourceOptions): Promise<Bundle> {
  if (options.workflowBundle) return checked(options.workflowBundle, options);
  if (options.workflowsPath !== undefined) return bundleOf(options.workflowsPath, options);
  const { payloadConverterPath, failureConverterPath: ofFailures } = options.dataConverter ?? {};
  const encrypted = ofFailures === encryptedBundle.failureConverterPath;
  const isOwn = ofFailures === undefined || encrypted;
  const isBuilt = isOwn && payloadConverterPath === undefined && !changesBundle(options);
  const codePath = isBuilt ? workflowBundlePath({ encrypted }) : undefined;
  return codePath === undefined ? bundleOf(workflowModule('index'), options) : { codePath };
}

/** True if something of the user goes into a bundle even without workflows of theirs. */
function changesBundle({ interceptors, bundlerOptions, ...options }: WorkflowSourceOptions): boolean {
  if (bundlerOptions !== undefined || (interceptors?.workflowModules ?? []).length > 0) return true;
  return pluginsOf(options).some(({ configureBundler }) => configureBundler !== undefined);
}

/** The SDK adds those of the connection only when it bundles itself. */
function pluginsOf({ plugins = [], connection }: WorkflowSourceOptions): BundlerPlugin[] {
  return [...new Set<BundlerPlugin>([...plugins, ...(connection?.plugins ?? [])])];
}

async function codeOf(bundle: Bundle): Promise<string> {
  return 'code' in bundle ? bundle.code : readFile(bundle.codePath, 'utf8');
}

async function checked(bundle: Bundle, { dataConverter }: WorkflowSourceOptions): Promise<Bundle> {
  const code = await codeOf(bundle);
  requireOneCopy(code);
  const isEncrypted = dataConverter?.failureConverterPath === encryptedBundle.failureConverterPath;
  // Each is a text of one interceptor.
  const texts = [earlyQueryText, apiCallsHeader, ...(isEncrypted ? [refusedSignalText] : [])];
  if (texts.every((text) => code.includes(text))) return bundle;
  const mend = 'pass `SandflowPlugin`, `unencryptedBundle` or `encryptedBundle` to `bundleWorkflowCode`';
  throw new SandflowError('bad_argument', `The workflow bundle lacks an interceptor of sandflow: ${mend}.`);
}

async function bundleOf(workflowsPath: string, options: WorkflowSourceOptions) {
  const { payloadConverterPath, failureConverterPath: ofFailures } = options.dataConverter ?? {};
  const bundle = await bundleWorkflowCode(
    withSandflow({
      ...options.bundlerOptions,
      workflowInterceptorModules: options.interceptors?.workflowModules,
      workflowsPath,
      payloadConverterPath,
      failureConverterPath: ofFailures,
      plugins: pluginsOf(options),
      logger: new DefaultLogger('WARN'),
    }),
  );
  requireOneCopy(bundle.code);
  if (workflowsPath === workflowModule('index') || exportsWorkflows(bundle.code)) return bundle;
  const mend = "add the line `export * from 'sandflow/workflows';`";
  throw new SandflowError('bad_argument', `${workflowsPath} lacks the workflows of sandflow: ${mend}.`);
}

/** True if two modules export a workflow that only sandflow's own module and one of the user that exports all of it do. */
function exportsWorkflows(code: string): boolean {
  return code.split('fanoutChunk: () => (/* reexport safe */').length > 2;
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
