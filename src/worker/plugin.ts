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
import { isEncrypting } from '../encryption/payload-codec.js';
import { createAll, runAll, stopAll } from './create-worker.js';
import { checkParts, mainQueue, otherQueues, queuesPlugin, type SandflowParts } from './queues.js';
import { withSandflow, workflowSource } from './workflow-bundle.js';

/**
 * Options of `SandflowPlugin`. A worker needs `client` and `results`; without both, the plugin only brings the codec, as for
 * clients and connections.
 */
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
 * `Worker.create` and `bundleWorkflowCode` then throw what `createSandflowWorker` throws, but for a namespace that does not
 * exist, and `run` what the creation of the workers of the other task queues throws. Run the worker once.
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
    const dataConverter = this.#converter(given);
    const { client, results } = this.#options;
    // It is there twice if the connection has one too, which may be another one.
    if ((!client && !results) || plugins.some(({ name }) => name === queuesPlugin)) return { ...given, dataConverter };
    const options = { ...given, dataConverter, plugins: plugins.filter((plugin) => plugin !== this) };
    const parts = this.#options as SandflowParts;
    await checkParts(options, parts);
    // What the plugins before this one add, the options have already.
    const after = plugins.slice(plugins.indexOf(this) + 1);
    const others = otherQueues({ ...options, connection: withoutPlugins(given.connection) }, parts).map((queue) => ({
      ...queue,
      plugins: [{ name: queuesPlugin }, ...after, keeping(queue)],
    }));
    const runWorker: WorkerPlugin['runWorker'] = (worker, next) => {
      // A second run fails, and must not end the first.
      if (worker.getState() !== 'INITIALIZED') return next(worker);
      return runBeside(worker, next(worker), others);
    };
    // The plugins of the connection are among the others, and this one changes nothing of sandflow's own bundle.
    const main = await mainQueue({ ...options, connection: undefined }, parts);
    return { ...main, connection: given.connection, plugins: [...plugins, { name: queuesPlugin, runWorker }] };
  }

  async configureReplayWorker(given: ReplayWorkerOptions): Promise<ReplayWorkerOptions> {
    const options = { ...given, dataConverter: this.#converter(given) };
    return { ...options, ...(await workflowSource({ ...options, workflowStacks: this.#options.workflowStacks })) };
  }

  /** Codecs of others come first: what they make is encrypted. */
  #converter({ dataConverter: theirs }: { readonly dataConverter?: DataConverter }): DataConverter {
    const own = this.#options.dataConverter;
    const [before, ours] = [theirs?.payloadCodecs ?? [], own?.payloadCodecs ?? []];
    // A connection and its worker may each have a plugin of sandflow, with codecs of their own.
    const added = before.some(isEncrypting) ? ours.filter((codec) => !isEncrypting(codec)) : ours;
    const payloadCodecs = [...new Set([...before, ...added])];
    return {
      payloadConverterPath: own?.payloadConverterPath ?? theirs?.payloadConverterPath,
      failureConverterPath: own?.failureConverterPath ?? theirs?.failureConverterPath,
      payloadCodecs,
    };
  }
}

/** Keeps what makes a queue what it is from the plugins before: slots, and no workflows. */
function keeping({ connection, plugins, ...queue }: WorkerOptions): WorkerPlugin {
  return {
    name: 'sandflow queue',
    configureWorker: ({ tuner, workflowsPath, workflowBundle, interceptors, dataConverter, ...given }) => ({
      ...given,
      ...queue,
      interceptors,
      dataConverter,
    }),
  };
}

/** Runs the workers of the other task queues beside one that runs. */
async function runBeside(worker: Worker, running: Promise<void>, queues: readonly WorkerOptions[]): Promise<void> {
  // It may fail before the others run.
  const ended = running.catch(() => undefined);
  try {
    const others = await createAll(queues);
    await runAll([worker, ...others], [running, ...others.map((other) => other.run())]);
  } finally {
    stopAll([worker]);
    await ended;
  }
}

/** A connection adds its plugins to each worker, and these workers have theirs already. */
function withoutPlugins(connection: NativeConnection | undefined): NativeConnection | undefined {
  return connection && Object.create(connection, { plugins: { value: [] } });
}
