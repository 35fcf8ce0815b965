/** `sandflow doctor`: checks everything that a job needs, and says how to fix each problem. */
import type { Config } from '../../config.js';
import type { CommandContext, JsonOption } from '../command.js';
import { checkService, withReads } from '../connect/check-service.js';
import { isFullyConfigured } from '../connect/configured.js';
import { readLocalFacts } from '../connect/local-facts.js';
import { openPlatform, type Platform } from '../connect/platform.js';
import { failureOf } from '../errors.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { createReporter } from '../output/reporter.js';
import { createPaint } from '../output/terminal.js';
import { oneLine } from '../output/terminal-safe.js';
import { ServiceRefusal } from '../service-refusal.js';
import { type Check, failed, ok, skipped } from './check.js';
import { checkActions } from './check-actions.js';
import { checkBuckets } from './check-buckets.js';
import { checkDeployments } from './check-deployments.js';
import { checkDisk } from './check-disk.js';
import { checkEncryption, readRing } from './check-encryption.js';
import { checkHeaders } from './check-headers.js';
import { checkIsolation, checkLocalClock, checkLocalSettings } from './check-local.js';
import { checkSettings } from './check-settings.js';
import { checkTemporal } from './check-temporal.js';
import { checkWakes } from './check-wakes.js';
import { checkBridge, checkSecret, checkWebhook } from './check-webhook.js';

/** @returns 0 if a job can run, 1 if a check failed */
export async function runDoctor(
  options: { readonly bridge?: string; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  const configured = await io.readConfig();
  const ofSettings = await checkSettings(configured, io);
  const { noLocalService } = configured;
  if (noLocalService !== undefined) {
    const missing = failed('service', noLocalService, 'Fix this first; the other checks depend on it.');
    return sayResult([ofSettings, missing], options, io);
  }
  const reporter = createReporter({ stream: io.stderr, quiet: options.json === true });
  const disk = await checkDisk(configured);
  const checks: Check[] = [ofSettings, disk, ...(await checkBuckets(configured))];
  const asking = { signal: io.interrupted, notice: (text: string) => reporter.notice(text) };
  const serviceFirst = configured.sandboxService ? await serviceChecks(configured, asking) : [];
  let platform: Platform | undefined;
  const ring = await readRing(configured);
  const isRingBad = ring !== undefined && 'status' in ring;
  try {
    const opened = isRingBad ? { ...configured, encryption: undefined } : configured;
    platform = await openPlatform(opened, { io, reporter, needsWorker: false, keysMayDiffer: true });
    checks.push(...(await checkTemporal(platform.temporal, platform.config)));
    checks.push(isRingBad ? ring : await checkEncryption(platform.temporal, platform.config, ring));
  } catch (error) {
    const mend =
      disk.status === 'failed'
        ? 'Free some space first.'
        : isFullyConfigured(configured)
          ? 'Check TEMPORAL_ADDRESS and its TLS settings and key, or unset it to use an embedded server.'
          : 'The embedded stack did not start. Fix the cause in the message.';
    checks.push(
      failed('temporal', failureOf(error).error.message, mend),
      skipped('workers', 'Temporal is not available.'),
    );
    if (isRingBad) checks.push(ring);
  }
  try {
    const config = platform?.config ?? configured;
    const ofService = configured.sandboxService ? serviceFirst : await serviceChecks(config, asking);
    const facts = platform
      ? await platform.readFacts()
      : config.sandboxService && (await readLocalFacts(config.sandboxService));
    const ofClock = facts ? checkLocalClock(facts.clock) : null;
    checks.push(...ofService.filter(({ name, status }) => !(ofClock && name === 'clock' && status === 'ok')));
    if (ofClock) checks.push(ofClock);
    // If the service did not answer within the time limit, each further read is tried only once.
    const patienceMs = ofService.some(({ status }) => status === 'failed') ? 0 : config.patienceMs;
    const { sandboxService } = config;
    if (!sandboxService) checks.push(skipped('webhook', 'There is no service to check.'));
    else
      await withReads(sandboxService, { ...asking, patienceMs }, async (reads, client) => {
        const { check, bridgeUrl } = await checkWebhook(reads, sandboxService.apiUrl, platform?.bridgeUrl);
        const ofBridge = await checkBridge(options.bridge ?? platform?.bridgeUrl ?? bridgeUrl, config);
        const ofWebhook = [check, await checkSecret(config), ofBridge];
        checks.push(...ofWebhook);
        // If one of these failed, it is known why jobs poll.
        if (platform && check.status === 'ok' && ofWebhook.every(({ status }) => status !== 'failed'))
          checks.push(await checkWakes(platform.temporal, config));
        if (ofService.every(({ status }) => status !== 'failed')) checks.push(await checkActions(reads, client));
        if (facts) checks.push(checkIsolation(facts.isolation), ...checkLocalSettings(facts));
        if (platform) checks.push(await checkDeployments(reads, platform.temporal, config.deployment));
      });
  } finally {
    reporter.close();
    await platform?.close();
  }
  return sayResult(checks, options, io);
}

function sayResult(checks: readonly Check[], options: JsonOption, io: CommandContext['io']): number {
  // The result of an interrupted check is not a finding.
  io.interrupted.throwIfAborted();
  const healthy = checks.every(({ status }) => status !== 'failed');
  if (options.json) printJson(io.stdout, { healthy, checks, error: null });
  else printChecks(checks, io);
  return healthy ? exitCodes.done : exitCodes.otherOutcome;
}

type Asking = Parameters<typeof checkService>[1];

async function serviceChecks(config: Config, asking: Asking): Promise<Check[]> {
  const { sandboxService } = config;
  if (!sandboxService) return [skipped('service', 'No service is configured, and the embedded one is not running.')];
  const ofHeaders = await checkHeaders(sandboxService.apiUrl);
  try {
    const login = await checkService(config, asking);
    return [
      ok('service', `Connected to ${sandboxService.apiUrl}.`),
      ok('key', login === null ? 'The key is valid, but it may not read the account.' : `The key belongs to ${login}.`),
      ...ofHeaders,
    ];
  } catch (error) {
    const { code, message } = failureOf(error).error;
    if (error instanceof ServiceRefusal && error.status !== null) {
      const mend = error.mayPass ? 'Try again later.' : 'Fix the key or the account as described in the message.';
      return [failed(error.mayPass ? 'service' : 'key', message, mend), ...ofHeaders];
    }
    if (code === 'bad_configuration' || code === 'bad_api_key')
      return [failed('key', message, 'Set SANDBOX_API_URL and SANDBOX_API_KEY.'), ...ofHeaders];
    return [failed('service', message, 'Check SANDBOX_API_URL and the network.'), ...ofHeaders];
  }
}

function printChecks(checks: readonly Check[], io: CommandContext['io']): void {
  const paint = createPaint(io.stdout);
  const styles = { ok: 'green', warning: 'yellow', failed: 'red', skipped: 'dim' } as const;
  for (const { name, status, message, mend } of checks) {
    io.stdout.write(`${paint(styles[status], status.padEnd(7))}  ${name.padEnd(10)}  ${oneLine(message)}\n`);
    if (mend) io.stdout.write(`${' '.repeat(21)}${oneLine(mend)}\n`);
  }
}
