/**
 * Finds the addresses of Temporal and the service: as configured, or of the embedded stack, which it starts if needed.
 */

import type { Config } from '../../config.js';
import { ensureStack, type StackHandle } from '../../supervisor/ensure-stack.js';
import type { TemporalTarget } from '../../temporal/connect.js';
import type { CliIo } from '../io.js';
import type { TemporalUi } from '../output/job-links.js';
import type { Notices } from '../output/reporter.js';
import { asCalled } from '../program-name.js';
import { configuredUi } from './configured.js';

export interface Addresses {
  /** The configuration. If no service is configured, `sandboxService` is the one of the embedded stack. */
  readonly config: Config;
  readonly temporal: TemporalTarget;
  readonly service: NonNullable<Config['sandboxService']>;
  /** URL of the bridge in the embedded stack; undefined if unknown. */
  readonly bridgeUrl: string | undefined;
  /** Temporal's UI; undefined if unknown. */
  readonly ui: TemporalUi | undefined;
  /** Releases the embedded stack. The stack ends when it has no clients left. Safe to repeat. */
  release(): void;
}

/** @throws SandflowError if the embedded stack cannot be started */
export async function findAddresses(
  config: Config,
  io: Pick<CliIo, 'main' | 'interrupted' | 'command'>,
  reporter: Notices,
): Promise<Addresses> {
  const { sandboxService, temporal } = config;
  if (!temporal.configured || !sandboxService) {
    const stack = await ensureStack(config, {
      main: io.main,
      command: io.command,
      signal: io.interrupted,
      onProgress: (line) => {
        const text = asCalled(line);
        reporter.notice(text, 'detail');
        reporter.busy?.(text);
      },
    }).finally(() => reporter.busy?.(null));
    return embeddedAddresses(config, stack);
  }
  return {
    config,
    temporal: temporal.connect,
    service: sandboxService,
    bridgeUrl: undefined,
    ui: configuredUi(config),
    release: () => undefined,
  };
}

function embeddedAddresses(config: Config, stack: StackHandle): Addresses {
  const { temporalAddress, namespace, uiUrl, bridgeUrl, release } = stack;
  const service = config.sandboxService ?? {
    apiUrl: stack.sandboxApiUrl,
    apiKey: stack.sandboxApiKey,
    apiKeyFile: stack.sandboxApiKeyFile,
    ...stack.form,
  };
  return {
    config: { ...config, sandboxService: service },
    temporal: config.temporal.configured ? config.temporal.connect : { address: temporalAddress, namespace },
    service,
    bridgeUrl,
    ui: config.temporal.configured ? configuredUi(config) : uiUrl === undefined ? undefined : { url: uiUrl, namespace },
    release,
  };
}
