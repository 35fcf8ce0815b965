import type { Readable } from 'node:stream';
import type { PlainResponse } from '../../client/index.js';
import { errorEnvelopeSchema } from '../../contract/endpoints/endpoints.js';
import { withoutSecrets } from '../../errors/without-secrets.js';
import { indentJson } from '../../texts/json-tokens.js';
import { parseJson } from '../../texts/parse-json.js';
import type { CommandContext } from '../command.js';
import { readWhole } from '../connect/answer-text.js';
import { withService } from '../connect/with-service.js';
import { exitCodes } from '../exit-codes.js';
import type { CliIo, OutputStream } from '../io.js';
import { createPacedWrite } from '../output/paced-output.js';
import { createPaint } from '../output/terminal.js';
import { escapeUnsafe, setIn } from '../output/terminal-safe.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import { UsageError } from '../usage-error.js';
import type { ApiOptions } from './options.js';
import { planRequest } from './plan-request.js';

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

/** @returns 0 for a success, 1 for every other answer */
async function printAnswer(response: PlainResponse, io: CliIo): Promise<number> {
  const { status } = response;
  const isSuccess = status >= 200 && status < 300;
  if (!isSuccess) {
    const text = (await readWhole(response.body)).toString('utf8');
    printText(text, io.stdout);
    io.stderr.write(`${createPaint(io.stderr)('red', 'error:')} ${setIn(describe(status, text))}\n`);
    return exitCodes.otherOutcome;
  }
  if (isJson(response)) printText((await readWhole(response.body)).toString('utf8'), io.stdout);
  else await printBytes(response.body, io);
  return exitCodes.done;
}

function isJson({ header }: PlainResponse): boolean {
  const type = header('content-type');
  // An empty answer has no type.
  return type === undefined ? header('content-length') === '0' : /^application\/(?:\w+\+)?json\b/i.test(type);
}

/** JSON is indented; anything else, such as a proxy's page, is printed unchanged. */
function printText(text: string, stdout: OutputStream): void {
  if (text === '') return;
  const parsed = parseJson(text);
  // Written as bytes, so that a pipe gets the text unchanged.
  if (parsed === undefined) stdout.write(Buffer.from(`${withoutSecrets(text.trimEnd())}\n`));
  else stdout.write(`${escapeUnsafe(indentJson(text, 2))}\n`);
}

function describe(status: number, text: string): string {
  const envelope = errorEnvelopeSchema.safeParse(parseJson(text));
  if (!envelope.success)
    return `Status ${status} without the service's error body. The response may come from a proxy.`;
  const { code, message, requestId } = envelope.data;
  return `${message || 'Refused.'} (${[`${status} ${code}`, requestId].filter(Boolean).join(', ')})`;
}

/** @throws UsageError on a terminal */
async function printBytes(body: Readable, io: CliIo): Promise<void> {
  if (io.stdout.isTTY) {
    body.destroy();
    throw new UsageError('The response is binary and stdout is a terminal. Redirect stdout to a file.');
  }
  const write = createPacedWrite(io);
  for await (const chunk of body as AsyncIterable<Buffer>) if (!(await write(chunk))) return;
}
