/** Prints what the service answered: JSON for people, bytes as they are. */
import type { Readable } from 'node:stream';
import type { PlainResponse } from '../../client/index.js';
import { isOverlargeJson } from '../../client/json-size.js';
import { errorEnvelopeSchema } from '../../contract/endpoints.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { exitCodes } from '../exit-codes.js';
import type { CliIo, OutputStream } from '../io.js';
import { jsonText } from '../output/json.js';
import { createPaint } from '../output/paint.js';
import { oneLine, setIn } from '../output/terminal-safe.js';
import { UsageError } from '../usage-error.js';

/** Text is held in memory before it is printed; files are not. */
const maxTextBytes = 64 * 1024 * 1024;

export interface PrintOptions {
  /** Status and headers first. */
  readonly include: boolean;
  /** Takes the bytes of a success in place of stdout. */
  readonly save?: (response: PlainResponse) => Promise<void>;
}

/** @returns 0 for a success, 1 for every other answer */
export async function printAnswer(response: PlainResponse, io: CliIo, options: PrintOptions): Promise<number> {
  const { status } = response;
  const isSuccess = status >= 200 && status < 300;
  if (options.include) printHead(response, io.stdout);
  if (!isSuccess) {
    const text = (await whole(response.body)).toString('utf8');
    printText(text, io.stdout);
    io.stderr.write(`${createPaint(io.stderr)('red', 'error:')} ${setIn(describe(status, text))}\n`);
    return exitCodes.otherOutcome;
  }
  if (options.save) await options.save(response);
  else if (isJson(response)) printText((await whole(response.body)).toString('utf8'), io.stdout);
  else await printBytes(response.body, io.stdout);
  return exitCodes.done;
}

function isJson({ header }: PlainResponse): boolean {
  const type = header('content-type');
  // An empty answer has no type.
  return type === undefined ? header('content-length') === '0' : /^application\/(?:\w+\+)?json\b/i.test(type);
}

function printHead({ status, headers }: PlainResponse, stdout: OutputStream): void {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one ?? ''}`),
  );
  stdout.write(`${[`HTTP ${status}`, ...lines.map(oneLine)].join('\n')}\n\n`);
}

/** Pretty where it is JSON; what a proxy sends instead is shown as it is. */
function printText(text: string, stdout: OutputStream): void {
  if (text === '') return;
  const parsed = parse(text);
  // What is no JSON is written as bytes: a pipe gets it as it came.
  stdout.write(parsed === undefined ? Buffer.from(`${text.trimEnd()}\n`) : `${jsonText(parsed, 2)}\n`);
}

function describe(status: number, text: string): string {
  const envelope = errorEnvelopeSchema.safeParse(parse(text));
  if (!envelope.success) return `Status ${status} without the service's error body; a proxy may have answered.`;
  const { code, message, requestId } = envelope.data;
  return `${message || 'Refused.'} (${[`${status} ${code}`, requestId].filter(Boolean).join(', ')})`;
}

/** Undefined also for JSON that is too large to parse: it is printed as it is. */
function parse(text: string): unknown {
  if (isOverlargeJson(Buffer.from(text))) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws SandflowError `unexpected_response` for more than 64 MiB */
async function whole(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxTextBytes) {
      throw new SandflowError('unexpected_response', `The answer is larger than ${maxTextBytes} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** @throws UsageError on a terminal */
async function printBytes(body: Readable, stdout: OutputStream): Promise<void> {
  if (stdout.isTTY) {
    body.destroy();
    throw bytesOnTerminal();
  }
  let isClosed = false;
  let goOn = () => {};
  stdout.once?.('close', () => {
    isClosed = true;
    goOn();
  });
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (isClosed) return;
    if (stdout.write(chunk) !== false || !stdout.once) continue;
    await new Promise<void>((resolve) => {
      goOn = resolve;
      stdout.once?.('drain', resolve);
    });
  }
}

export function bytesOnTerminal(): UsageError {
  return new UsageError('The response is binary and stdout is a terminal. Use --output FILE, or redirect stdout.');
}
