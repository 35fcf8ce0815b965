/** `sandflow status`, and what `sandflow up` prints at its end. */

import type { StackStatus } from '../../supervisor/control-protocol.js';
import { localApiKeyFile, stackPaths } from '../../supervisor/stack-paths.js';
import { endedText, readStackRecord } from '../../supervisor/stack-record.js';
import type { JsonOption } from '../command.js';
import { readStatus } from '../connect/stack-status.js';
import type { CliIo } from '../io.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { asCalled, programName } from '../program-name.js';
import { ageText, formatDuration, plural } from '../units.js';
import { undeliveredLines } from './undelivered-text.js';

export async function showStack({ json }: JsonOption, io: CliIo): Promise<void> {
  const { home, deployment, sandboxService, temporal } = await io.readConfig();
  const status = await readStatus(home);
  const apiKeyFile = sandboxService ? (sandboxService.apiKeyFile ?? null) : localApiKeyFile(home);
  const ended = status ? undefined : await readStackRecord(stackPaths(home).recordFile);
  if (json) {
    const stack = status && { ...status, stack: status.stack && { ...status.stack, apiKeyFile } };
    return printJson(io.stdout, {
      running: status !== undefined,
      home,
      status: stack ?? null,
      ended: ended ?? null,
      error: null,
    });
  }
  if (!status) {
    const configured = temporal.configured && sandboxService !== undefined;
    if (ended) {
      const how = ended.kept ? `brings it back, as \`${programName} up\` did` : 'brings it back';
      io.stdout.write(
        `${oneLine(`${asCalled(endedText(ended))} The next command that needs it ${how}. Home: ${home}`)}\n`,
      );
      return;
    }
    const next = configured
      ? 'Temporal and the service are configured, so commands do not need one.'
      : `Commands that need it start it. To start it now, run \`${programName} up\`.`;
    io.stdout.write(`${oneLine(`No stack is running in ${home}. ${next}`)}\n`);
    return;
  }
  const nowMs = Date.now();
  const { state, stack, parts, clients, openJobs, openIds, startedAt } = status;
  const more = (openJobs ?? 0) > openIds.length && openIds.length > 0 ? ', …' : '';
  const open = openJobs === null ? 'unknown: Temporal does not answer' : plural(openJobs, 'workflow');
  const rows: readonly (readonly [name: string, text: string | undefined])[] = [
    ['stack', `${state}, for ${ageText(startedAt, nowMs)} (process ${status.pid})`],
    ['home', home],
    ['Temporal', stack?.temporalAddress],
    ['Temporal UI', stack?.uiUrl],
    ['Sandbox Service', stack?.sandboxApiUrl],
    ['API key file', apiKeyFile ?? undefined],
    [
      'bridge',
      stack ? (stack.bridgeUrl ?? `${stack.bridgeAddress}, after \`${programName} webhooks connect\``) : undefined,
    ],
    ['parts', partsText(parts)],
    ['open', `${open}${openIds.length > 0 ? ` (${openIds.join(', ')}${more})` : ''}`],
    ...undeliveredLines(status, deployment).map((line) => ['undelivered', line] as const),
    [
      'used by',
      clients.map(({ command, pid, since }) => `${command} (process ${pid}, ${ageText(since, nowMs)})`).join(', ') ||
        'no command',
    ],
    ['ends', endText(status, nowMs)],
  ];
  for (const [name, text] of rows) if (text) io.stdout.write(`${name.padEnd(16)} ${oneLine(text)}\n`);
}

function partsText(parts: Readonly<Record<string, number | null>>): string {
  return Object.entries(parts)
    .map(([name, pid]) => `${name} ${pid ?? '(restarting)'}`)
    .join(', ');
}

function endText({ kept, foreground, endsAt }: StackStatus, nowMs: number): string {
  if (foreground) return `with the \`${programName} up --foreground\` that runs it`;
  if (kept) return `at \`${programName} down\``;
  if (endsAt === null) return 'automatically when it is idle';
  return `automatically in ${formatDuration(Math.max(0, Date.parse(endsAt) - nowMs))}, unless a command uses it`;
}
