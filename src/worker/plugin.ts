/** sandflow as a plugin of a worker, a client and a bundle that people have. */
import type { ClientOptions, ClientPlugin } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type {
  BundleOptions,
  BundlerPlugin,
  NativeConnection,
  ReplayWorkerOptions,
  Worker,
  WorkerOptions,
  WorkerPlugin,
} from '@temporalio/worker';
import { createAll, runAll, stopAll } from './create-worker.js';
import { checkParts, mainQueue, otherQueues, type SandflowParts } from './queues.js';
import { withSandflow, workflowSource } from './workflow-bundle.js';

/** Options of `SandflowPlugin`. A worker needs `client` and `results`; a client and a bundle need none. */
export interface SandflowPluginOptions extends Partial<SandflowParts> {
  /** Codec and converters of payloads, such as those of `openEncoding`. Default: those of the worker or client. */
  readonly dataConverter?: DataConverter;
}

/**
 * Puts sandflow into a worker of yours: its activities, interceptors and codec, and the workers of its other task queues,
 * which run as long as yours. `shutdown` of your worker ends them, too. Without workflows of yours the worker has those of
 * sandflow; your own module exports them: `export * from 'sandflow/workflows'`. For a bundle that you make before, pass
 * the same plugin to `bundleWorkflowCode`. In a client it adds the codec.
 *
 * `Worker.create` and `bundleWorkflowCode` then throw what `createSandflowWorker` throws, and `run` what the creation of
 * the workers of the other task queues throws.
 * @example
 * const plugins = [new SandflowPlugin({ client: api, results })];
 * const worker = await Worker.create({ connection, taskQueue, workflowsPath, activities: {}, plugins });
 * await worker.run();
 */
export class SandflowPlugin implements WorkerPlugin, ClientPlugin, BundlerPlugin {
  readonly name = 'sandflow';
  readonly #options: SandflowPluginOptions;

  constructor(options: SandflowPluginOptions = {}) {
    this.#options = options;
  }

  configureClient(options: Omit<ClientOptions, 'plugins'>): Omit<ClientOptions, 'plugins'> {
    return { ...options, dataConverter: this.#converter(options) };
  }

  configureBundler(options: BundleOptions): BundleOptions {
    const { payloadConverterPath, failureConverterPath } = this.#options.dataConverter ?? {};
    const { payloadConverterPath: ofPayloads, failureConverterPath: ofFailures, ...others } = options;
    return withSandflow({
      ...others,
      payloadConverterPath: payloadConverterPath ?? ofPayloads,
      failureConverterPath: failureConverterPath ?? ofFailures,
    });
  }

  async configureWorker(given: WorkerOptions): Promise<WorkerOptions> {
    const { plugins = [] } = given;
    // It is there twice if the connection has it too.
    if (plugins.some(({ name }) => name === queuesPlugin)) return given;
    const options = {
      ...given,
      dataConverter: this.#converter(given),
      plugins: plugins.filter((plugin) => plugin !== this),
    };
    const parts = this.#options as SandflowParts;
    await checkParts(options, parts);
    // What the plugins before this one add, the options have already.
    const after = plugins.slice(plugins.indexOf(this)).filter((plugin) => plugin !== this);
    const rest = { plugins: after, connection: withoutPlugins(given.connection) };
    const others = otherQueues({ ...options, ...rest }, parts);
    const runWorker: WorkerPlugin['runWorker'] = (worker, next) => runBeside(worker, next(worker), others);
    // The plugins of the connection are among the others, and this one changes nothing of sandflow's own bundle.
    const main = await mainQueue({ ...options, connection: undefined }, parts);
    return { ...main, connection: given.connection, plugins: [...plugins, { name: queuesPlugin, runWorker }] };
  }

  async configureReplayWorker(given: ReplayWorkerOptions): Promise<ReplayWorkerOptions> {
    const options = { ...given, dataConverter: this.#converter(given) };
    return { ...options, ...(await workflowSource(options)) };
  }

  /** Codecs of others come first: what they make is encrypted. */
  #converter({ dataConverter: theirs }: { readonly dataConverter?: DataConverter }): DataConverter {
    const own = this.#options.dataConverter;
    const payloadCodecs = [...new Set([...(theirs?.payloadCodecs ?? []), ...(own?.payloadCodecs ?? [])])];
    return { ...theirs, ...own, payloadCodecs };
  }
}

const queuesPlugin = 'sandflow queues';

/** Runs the workers of the other task queues beside one that runs. */
async function runBeside(worker: Worker, running: Promise<void>, queues: readonly WorkerOptions[]): Promise<void> {
  // It may fail before the others run.
  running.catch(() => undefined);
  try {
    const others = await createAll(queues);
    await runAll([worker, ...others], [running, ...others.map((other) => other.run())]);
  } finally {
    stopAll([worker]);
    await running;
  }
}

/** A connection adds its plugins to each worker, and these workers have theirs already. */
function withoutPlugins(connection: NativeConnection | undefined): NativeConnection | undefined {
  return connection && Object.create(connection, { plugins: { value: [] } });
}
