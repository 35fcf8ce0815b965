import type { CommandContext } from '../command.js';
import { withService } from '../connect/with-service.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import type { ApiOptions } from './options.js';
import { planRequest } from './plan-request.js';
import { printAnswer } from './print-answer.js';

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
  return withService(context, async ({ service }) => {
    const response = await service.request(request, { timeoutMs, signal: io.interrupted });
    return printAnswer(response, io);
  });
}
