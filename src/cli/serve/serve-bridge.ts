import { dirname } from 'node:path';
import { createBridge, createSecretSource } from '../../bridge/index.js';
import { aborted } from '../../os/aborted.js';
import { readPrivateFile } from '../../os/private-file.js';
import { clientOfWorker, connectWorker } from '../../temporal/connect-worker.js';
import { requireNamespace } from '../../temporal/require-namespace.js';
import { installErrorLogger } from '../../temporal/runtime-log.js';
import { openEncryption } from '../connect/encryption.js';
import { agreeAtStart } from '../connect/key-agreement.js';
import type { CliIo } from '../io.js';
import { programName } from '../program-name.js';
import { badConfiguration } from '../usage-error.js';
import type { BridgeOptions } from './options.js';
import { type Address, createLogLines, listened, sayReady } from './serving.js';

export interface BridgePorts {
  readonly port: number;
  /** Undefined: no metrics are served. */
  readonly metrics: Address | undefined;
  /** How long deliveries are accepted after SIGTERM. */
  readonly drainMs: number;
}

/**
 * Serves until the first Ctrl-C or SIGTERM, then lets deliveries in progress finish. After SIGTERM, which an orchestrator
 * sends, it first accepts deliveries until the balancers in front of it have turned away.
 */
export async function serveBridge(
  { port, metrics, drainMs }: BridgePorts,
  options: BridgeOptions,
  io: CliIo,
): Promise<void> {
  const config = await io.readConfig({ checksHome: false });
  io.umask?.(0o077);
  if (!config.temporal.configured) {
    throw badConfiguration(
      `A bridge needs a Temporal server. Set TEMPORAL_ADDRESS, or use \`${programName} up\` to run everything locally.`,
    );
  }
  // Only a file in the home is ours to check. A configured file may come from somebody else, such as an orchestrator.
  if (dirname(config.webhookSecretFile) === config.home) await readPrivateFile(config.webhookSecretFile);
  const { ring, dataConverter } = await openEncryption(config);
  installErrorLogger();
  // The connection of a worker signals for about two thirds of the CPU time of a client.
  const connected = await connectWorker(config.temporal.connect, { proxy: config.temporal.proxy });
  const temporalClient = clientOfWorker(connected, { dataConverter });
  const log = createLogLines(io.stderr);
  try {
    const { deployment } = config;
    await requireNamespace(temporalClient, config.temporal.connect.connectionOptions.address ?? '');
    const keys = await agreeAtStart(temporalClient, { deployment, ring, notice: log, signal: io.interrupted });
    const bridge = createBridge({
      temporalClient,
      secrets: createSecretSource({ fixed: config.webhookSecrets, file: config.webhookSecretFile, log }),
      headerPrefix: config.sandboxService?.headerPrefix,
      log,
    });
    try {
      const { url } = await listened(
        bridge.listen({ port, host: options.host, metrics }),
        metrics && { option: '--metrics', ...metrics },
      );
      sayReady(io, { url, text: `The bridge receives webhooks at ${url}/webhooks/sandbox.` }, options);
      await Promise.race([aborted(io.interrupted), keys.refused]);
    } finally {
      keys.stop();
      await bridge.close({ drainMs: io.interrupted.reason === 'SIGINT' ? 0 : drainMs });
    }
  } finally {
    await connected.connection.close();
  }
}
