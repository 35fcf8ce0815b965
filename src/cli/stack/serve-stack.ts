/** The embedded stack: `sandflow up --foreground`, and the hidden `sandflow supervisor` in the background. */

import { aborted } from '../../os/aborted.js';
import { readAssumed } from '../../supervisor/assumed.js';
import type { StackDescription } from '../../supervisor/control-protocol.js';
import { ensureStack, localApiKeyFile, runSupervisor } from '../../supervisor/index.js';
import { readLocalFacts } from '../connect/local-facts.js';
import type { CliIo } from '../io.js';
import { jsonText } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { asCalled, programName } from '../program-name.js';
import { configOfStack } from './play-service.js';

/**
 * Holds the stack until the first Ctrl-C or SIGTERM, and then ends it in order. If a stack is already running, holds
 * that stack.
 */
export async function serveInForeground(
  options: { readonly readyJson?: boolean; readonly assume?: string },
  io: CliIo,
): Promise<void> {
  const config = await configOfStack(options, io);
  io.umask?.(0o077);
  const log = (line: string) => void io.stderr.write(`${asCalled(line)}\n`);
  const ownKey = { apiKeyFile: localApiKeyFile(config.home) };
  const ready = (stack: StackDescription) => void sayPlaces(io, stack, config.sandboxService ?? ownKey, options);
  const { main, interrupted: signal } = io;
  const ended = await runSupervisor(config, { main, foreground: true, log, signal, onReady: ready });
  if (ended === 'already_running') {
    const stack = await ensureStack(config, { main, command: io.command, signal, onProgress: log });
    log('The stack of this SANDFLOW_HOME is already running. It stays up while this command runs.');
    ready(stack);
    await Promise.race([aborted(signal), stack.lost]);
    stack.release();
  }
}

async function sayPlaces(
  io: CliIo,
  { temporalAddress, uiUrl, sandboxApiUrl, bridgeUrl, bridgeAddress }: StackDescription,
  { apiKey, apiKeyFile: sandboxApiKeyFile }: { readonly apiKey?: string; readonly apiKeyFile?: string },
  { readyJson }: { readonly readyJson?: boolean },
): Promise<void> {
  const service = { apiUrl: sandboxApiUrl, apiKey, apiKeyFile: sandboxApiKeyFile };
  const facts = await readLocalFacts(service);
  const { known: isolation, problem } = facts.isolation;
  for (const text of [problem, facts.changedSettings]) if (text !== null) io.stderr.write(`${oneLine(text)}\n`);
  for (const warning of isolation?.warnings ?? []) io.stderr.write(`${oneLine(warning)}\n`);
  if (readyJson) {
    // Print the path of the key file, and never the key.
    const places = { temporalAddress, uiUrl, sandboxApiUrl, sandboxApiKeyFile, bridgeUrl, bridgeAddress, isolation };
    io.stdout.write(`${jsonText({ ready: true, url: sandboxApiUrl, ...places })}\n`);
    return;
  }
  const rows = [
    ['Temporal', temporalAddress],
    ['Temporal UI', uiUrl],
    ['Sandbox Service', sandboxApiUrl],
    ['API key file', sandboxApiKeyFile],
    ['bridge', bridgeUrl ?? (bridgeAddress && `${bridgeAddress}, after \`${programName} webhooks connect\``)],
    ['isolation', isolation?.text ?? 'unknown'],
  ];
  for (const [name = '', place] of rows) if (place) io.stderr.write(`  ${name.padEnd(16)} ${place}\n`);
  io.stderr.write('Press Ctrl-C to stop.\n');
}

/** Holds the stack until it is idle, or until SIGTERM, and then ends it in order. The output goes to a log file. */
export async function serveSupervisor({ assume }: { readonly assume?: string }, io: CliIo): Promise<void> {
  const config = await io.readConfig();
  const assumed = assume === undefined ? undefined : await readAssumed(assume);
  io.umask?.(0o077);
  const log = (line: string) => void io.stderr.write(`${new Date().toISOString()} ${line}\n`);
  await runSupervisor({ ...config, assumed }, { main: io.main, foreground: false, log, signal: io.interrupted });
}
