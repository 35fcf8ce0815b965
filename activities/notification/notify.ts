/** Notifies the user's URL that a job or a stop ended, is blocked, or does not end. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { connectionProblemOf } from '../../src/errors/connection-problem.js';
import { SandflowError } from '../../src/errors/sandflow-error.js';
import { withoutSecrets, withoutSecretsIn } from '../../src/errors/without-secrets.js';
import { anySignal, timeLimit } from '../../src/os/any-signal.js';
import { chats } from '../../src/protocol/chats.js';
import type { NotifyTarget } from '../../src/protocol/job/job-input.js';
import type { Notification } from '../../src/protocol/notification.js';
import { cut } from '../../src/texts/length.js';
import { isLoopbackHost } from '../../src/texts/urls.js';
import { notificationHeaders } from '../../src/webhook/index.js';
import { chatMessage } from './chat-message.js';

export interface NotifyDependencies {
  /** Returns the secrets that sign notifications, `whsec_…`; called at each attempt. Default: unsigned. */
  readonly notifySecrets?: () => Promise<readonly string[]>;
}

const timeoutMs = 20_000;
/** How much of an answer is read, in bytes, and shown, in characters. */
const longestAnswer = 16_384;
const shownAnswer = 200;
/** Time limit for the body of a response, in ms. */
const restMs = 1_000;
/** Statuses of refusals that may be temporary. */
const passingStatuses: ReadonlySet<number> = new Set([404, 408, 425, 429]);

/**
 * Delivers a notification, which may arrive more than once.
 * @throws ApplicationFailure `notify_failed`; final if another attempt cannot help
 */
export function notifyActivity({ notifySecrets }: NotifyDependencies) {
  const proxied = new EnvHttpProxyAgent();
  return async function notify({ url, chat }: NotifyTarget, told: Notification): Promise<void> {
    // Anyone with access to Temporal can send a value that is not a string.
    if (typeof url !== 'string') throw failed('The URL of a notification must be a string.', true);
    const notification = withoutSecretsIn(told);
    const body = JSON.stringify(notification);
    const signal = anySignal([timeLimit(timeoutMs), Context.current().cancellationSignal]);
    if (chat !== undefined) {
      if (!chats.includes(chat)) throw failed(`A notification goes to one of the chats ${chats.join(', ')}.`, true);
      await post(url, { body: JSON.stringify(chatMessage(chat, notification)), signed: {}, signal, proxied });
      return;
    }
    const secrets = notifySecrets ? await own(notifySecrets) : [];
    const timestamp = Math.floor(Date.now() / 1_000);
    const signed = notificationHeaders({ secrets, id: notification.id, timestamp, rawBody: body });
    await post(url, { body, signed, signal, proxied });
  };
}

/** Reads the worker's own configuration. A failure is retried, because somebody may correct the configuration. */
async function own<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw failed(
      error instanceof SandflowError ? error.message : 'The worker could not read its own notify configuration.',
      false,
    );
  }
}

interface Post {
  readonly body: string;
  /** The headers of the signature. */
  readonly signed: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Sends through the proxy of the environment, if there is one. */
  readonly proxied: Dispatcher;
}

/** Sends the notification. Follows no redirects, because the server that answers must not choose another receiver. */
async function post(url: string, { body, signed, signal, proxied }: Post): Promise<void> {
  const headers = { 'content-type': 'application/json', ...signed };
  const isHere = URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
  const dispatcher = isHere ? undefined : proxied;
  // An invalid URL throws synchronously, not through the promise.
  const sent = (async () => request(url, { method: 'POST', headers, body, signal, dispatcher }))();
  const { status, answer } = await sent.then(
    // The body is read even after a success, so that the connection can be used again.
    async ({ statusCode, body: rest }) => ({ status: statusCode, answer: await beginOf(rest) }),
    (error: unknown) => {
      // The original message may contain the URL, which may hold a token.
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
      const why = signal.aborted ? 'no answer in time' : (connectionProblemOf(error)?.text ?? code);
      throw failed(
        `The notification was not answered (${why}).`,
        code === 'UND_ERR_INVALID_ARG' || code === 'ERR_INVALID_URL',
      );
    },
  );
  if (status < 300) return;
  const said = answer === '' ? '' : `: ${answer}`;
  throw failed(
    `The notification was answered with status ${status}${said}.`,
    status < 500 && !passingStatuses.has(status),
  );
}

/** The begin of an answer, which says why a receiver refuses. Empty if it does not come soon. */
async function beginOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const late = setTimeout(() => body.destroy(), restMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size > longestAnswer) break;
    }
  } catch {
    // What came before is enough.
  } finally {
    clearTimeout(late);
  }
  const text = Buffer.concat(chunks)
    .toString('utf8')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return cut(withoutSecrets(text), shownAnswer);
}

function failed(message: string, nonRetryable: boolean): ApplicationFailure {
  return ApplicationFailure.create({ message, type: 'notify_failed', nonRetryable });
}
