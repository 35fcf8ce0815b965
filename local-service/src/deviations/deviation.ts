/** What a deviation is, and the words in which the rows of the table are written. */
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { ServiceError } from '../service-error.js';

export type Json = Record<string, unknown>;

/** A request on its way to its operation. A deviation changes what it holds. */
export interface Sent {
  /** `unknown` for a route that does not exist. */
  readonly endpoint: EndpointName | 'unknown';
  readonly surface: 'current' | 'legacy';
  readonly method: string;
  readonly url: string;
  readonly params: Record<string, string>;
  /** The query as it came, also if a deviation has changed `query`. */
  readonly asked: Readonly<Record<string, string>>;
  readonly query: Record<string, string>;
  readonly headers: Record<string, unknown>;
  body: Json;
  /** The time of the service, in ms since the epoch. */
  readonly nowMs: number;
  /** How often this service has seen the key, with this time, and since when in ms. */
  readonly seen: (key: string) => { readonly times: number; readonly forMs: number };
  /** Texts that this service shows as numbers. */
  readonly numbered: string[];
}

/** An answer on its way to the caller. A deviation changes it; a body of bytes or text is sent as it is. */
export interface Shown {
  status: number;
  readonly headers: Record<string, string>;
  body: Json | Buffer | string;
}

export interface Shape {
  /** Changes a request before its operation. Throws a ServiceError as its answer. */
  readonly request?: (sent: Sent) => void;
  readonly answer?: (shown: Shown & { body: Json }, sent: Sent) => void;
}

/**
 * How the service does otherwise. `inside`: the code does, where it asks `assume` or `context.deviations`. `refused`:
 * `assume` refuses what relies on the assumption.
 */
export type Deviation = 'inside' | 'refused' | Shape;
export type Rows = Readonly<Record<string, Deviation>>;

/** Changes the successful answers of endpoints. */
export function answers(
  names: EndpointName | readonly EndpointName[],
  change: (body: Json, shown: Shown, sent: Sent) => void,
): Shape {
  return {
    answer(shown, sent) {
      if (shown.status < 300 && [names].flat().some((name) => name === sent.endpoint)) change(shown.body, shown, sent);
    },
  };
}

/** Changes each sandbox that an answer shows. */
export function sandboxes(change: (sandbox: Json, sent: Sent) => void): Shape {
  return {
    answer: ({ body }, sent) => {
      for (const one of [body.sandbox, body.sandboxes].flat()) if (one) change(one as Json, sent);
    },
  };
}

/** Changes each event of a history. */
export function events(change: (event: Json) => void): Shape {
  return answers('listEvents', (body) => (body.events as Json[]).forEach(change));
}

/** Changes the body of each refusal. */
export function refusals(change: (body: Json & { error: Json }, shown: Shown) => void): Shape {
  return {
    answer: (shown) => {
      if (shown.body.ok === false) change(shown.body as Json & { error: Json }, shown);
    },
  };
}

export function requests(names: EndpointName | readonly EndpointName[], change: (sent: Sent) => void): Shape {
  return { request: (sent) => [names].flat().some((name) => name === sent.endpoint) && change(sent) };
}

/** Names fields otherwise. */
export function rename(object: Json, names: Readonly<Record<string, string>>): void {
  for (const [name, other] of Object.entries(names)) {
    if (!(name in object)) continue;
    object[other] = object[name];
    delete object[name];
  }
}

/** Replaces all fields. */
export function replace(object: Json, fields: Json): void {
  for (const name of Object.keys(object)) delete object[name];
  Object.assign(object, fields);
}

export function refuseAs(status: number, code: string, message: string): never {
  throw new ServiceError(status, code, message);
}

export function showHtml(shown: Shown, status: number): void {
  Object.assign(shown, { status, body: `<html><head><title>${status}</title></head><body>proxy</body></html>` });
  shown.headers['content-type'] = 'text/html';
}
