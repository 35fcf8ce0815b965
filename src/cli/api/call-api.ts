import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { saveDownload } from '../../client/download.js';
import type { CommandContext } from '../command.js';
import { withService } from '../connect/with-service.js';
import { requirePlaces } from '../output-places.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import { UsageError } from '../usage-error.js';
import { lookUp } from './contract-hint.js';
import type { ApiOptions } from './options.js';
import { planRequest } from './plan-request.js';
import { bytesOnTerminal, printAnswer } from './print-answer.js';

/** @returns the exit code: 1 if the service refused */
export async function callApi(
  method: string,
  address: string,
  options: ApiOptions,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  const timeoutMs = parseDurationMs(options.timeout, '--timeout', ofThisProcess);
  const request = await planRequest(method, address, options, io);
  if (options.output !== undefined) await requireOutput(options.output, io.cwd);
  const { raw, hint } = lookUp(request.method, request.path);
  if (raw && io.stdout.isTTY && options.output === undefined) throw bytesOnTerminal();
  if (hint !== null) io.stderr.write(`${hint}\n`);
  return withService(context, async ({ service }) => {
    const response = await service.request(request, { timeoutMs, signal: io.interrupted });
    const { output } = options;
    return printAnswer(response, io, {
      include: options.include === true,
      save:
        output === undefined
          ? undefined
          : async (answer) => {
              const to = resolve(io.cwd, output);
              const saved = await saveDownload(Promise.resolve(answer), { to, signal: io.interrupted });
              io.stderr.write(`${saved.path}: ${saved.sizeBytes} bytes\n`);
            },
    });
  });
}

/** A call that creates something must not be made if its answer cannot be saved. No folder is created for it. */
async function requireOutput(output: string, cwd: string): Promise<void> {
  await requirePlaces([{ option: '--output', path: output, kind: 'file' }], cwd);
  const folder = dirname(resolve(cwd, output));
  const isThere = await stat(folder).catch(() => undefined);
  if (!isThere)
    throw new UsageError(`--output: the folder ${folder} does not exist. Create it, or choose another path.`);
}
