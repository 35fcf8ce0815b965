/** Administers a running local service for `sandflow local …`, under `/_local` beside the base URL of the service. */

import type { z } from 'zod';
import { SandflowError } from '../../errors/sandflow-error.js';
import { localApiKeyFile } from '../../supervisor/stack-paths.js';
import { cut } from '../../texts/length.js';
import { parseJson } from '../../texts/parse-json.js';
import type { CommandContext } from '../command.js';
import { oneLine } from '../output/terminal-safe.js';
import { programName } from '../program-name.js';
import { badConfiguration } from '../usage-error.js';
import { answerText } from './answer-text.js';
import { runningLocalServices } from './local-services.js';
import { readStatus } from './stack-status.js';
import { type ServiceAtHand, withService } from './with-service.js';

/** Longest text of a refusal, in characters. */
const maxTextLength = 8_000;

type LocalAdmin = ReturnType<typeof createLocalAdmin>;
type Fields = Readonly<Record<string, unknown>>;

/** @throws SandflowError if no local service answers; what `act` throws */
export async function withLocalAdmin<T>(
  context: CommandContext,
  act: (admin: LocalAdmin, at: ServiceAtHand) => Promise<T>,
): Promise<T> {
  const { sandboxService: named, home } = await context.io.readConfig();
  if (!named) await refuseIfUnclear(home);
  return withService(context, async (at) => {
    const { sandboxService } = at.config;
    if (!sandboxService)
      throw badConfiguration(
        `No local service found. Start one with \`${programName} local\` or \`${programName} up\`.`,
      );
    const { apiKeyOf } = await import('../../os/key-file.js');
    const key = await apiKeyOf(sandboxService);
    const base = new URL('/_local', sandboxService.apiUrl);
    const which = named ? 'as SANDBOX_API_URL says' : `of the stack of ${home}`;
    context.io.stderr.write(`${oneLine(`Local service: ${sandboxService.apiUrl}, ${which}.`)}\n`);
    return act(createLocalAdmin({ base, key, signal: context.io.interrupted }), at);
  });
}

/**
 * Without a setting, a command uses the service of the stack. If another service runs, the user may mean that one, so
 * the command is refused.
 * @throws SandflowError `bad_configuration`
 */
async function refuseIfUnclear(home: string): Promise<void> {
  const others = await runningLocalServices(home);
  if (others.length === 0) return;
  const named = others.map(({ url, apiKeyFile }) => `SANDBOX_API_URL=${url} SANDBOX_API_KEY_FILE=${apiKeyFile}`);
  const ports = (await readStatus(home))?.stack;
  if (ports)
    named.push(`SANDBOX_API_URL=${ports.sandboxApiUrl} SANDBOX_API_KEY_FILE=${localApiKeyFile(home)} (embedded stack)`);
  throw badConfiguration(`Another local service runs, so choose one of them: ${named.join(', or ')}.`);
}

function createLocalAdmin({ base, key, signal }: { base: URL; key: string; signal: AbortSignal }) {
  async function send(method: string, path: string, body?: string, accept = 'application/json'): Promise<Response> {
    try {
      return await fetch(`${base}${path}`, {
        method,
        signal,
        // Follow no redirect: the key goes only to the configured service.
        redirect: 'manual',
        headers: {
          authorization: `Bearer ${key}`,
          accept,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body,
      });
    } catch (cause) {
      throw new SandflowError(
        'service_unreachable',
        `The local service at ${base.origin} cannot be reached. Start it with \`${programName} local\` or \`${programName} up\`.`,
        { cause },
      );
    }
  }
  function answerOf(text: string): Fields {
    const fields = fieldsOf(text);
    if (fields) return fields;
    throw new SandflowError(
      'unexpected_response',
      `The response of ${base.origin} does not come from a local service. Check SANDBOX_API_URL.`,
    );
  }
  return {
    /** @param path below `/_local`; @param body JSON; @returns the fields of the answer */
    async call(method: 'GET' | 'POST', path: string, body?: string): Promise<Fields> {
      const response = await send(method, path, body);
      if (!response.ok) throw await refusalOf(response, base);
      return answerOf(await answerText(response));
    },
    /** The same, for a call that may last: it tells its progress, at least every five minutes, and its answer is the last line. */
    async callToEnd(path: string, body: string): Promise<Fields> {
      const response = await send('POST', path, body, 'application/x-ndjson');
      if (!response.ok) throw await refusalOf(response, base);
      let cause: unknown;
      const text = await answerText(response).catch((error: unknown) => {
        cause = error;
        return '';
      });
      const fields = fieldsOf(text.trimEnd().split('\n').at(-1) ?? '');
      if (fields?.ok === true) return fields;
      // The status of the response was sent before the outcome was known.
      if (fields?.ok === false) throw refusalIn(fields, Number(fields.status));
      const message = `The local service at ${base.origin} has not said how this ended. Look at what it has before you repeat the command.`;
      throw new SandflowError('service_unreachable', message, { cause });
    },
  };
}

/** Undefined if the text is not a JSON object. */
function fieldsOf(text: string): Fields | undefined {
  const parsed = parseJson(text);
  return typeof parsed === 'object' && parsed !== null ? (parsed as Fields) : undefined;
}

/** @throws SandflowError `unexpected_response` if the answer does not fit the schema */
export function readAnswer<T>(schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  throw new SandflowError(
    'unexpected_response',
    'The response does not match this version of sandflow. Use the same version for this command and the local service.',
  );
}

async function refusalOf(response: Response, base: URL): Promise<SandflowError> {
  const envelope = fieldsOf(await answerText(response).catch(() => '')) ?? {};
  if (typeof envelope.code !== 'string' || (response.status === 404 && envelope.code === 'not_found')) {
    const message = `The service at ${base.origin} has no /_local: it is not a local service, or it has another version.`;
    return badConfiguration(message);
  }
  return refusalIn(envelope, response.status);
}

function refusalIn(envelope: Fields, status: number): SandflowError {
  const field = (name: string): string | undefined => {
    const value = envelope[name];
    return typeof value === 'string' ? cut(value, maxTextLength) : undefined;
  };
  const code = field('code') ?? 'unknown';
  const error = new SandflowError({ foreign: code }, field('message') ?? code);
  return Object.assign(error, { status, requestId: field('requestId') });
}
