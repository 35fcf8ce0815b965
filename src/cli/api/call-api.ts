/** The action of `sandflow api`. */
import { resolve } from 'node:path';
import { saveDownload } from '../../client/download.js';
import type { CommandContext } from '../command.js';
import { withService } from '../connect/with-service.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
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
