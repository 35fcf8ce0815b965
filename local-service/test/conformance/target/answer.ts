/** The answer to a call of a conformance test. */
import type { EndpointName, ResponseOf } from '../../../../src/contract/index.js';

type AnyResponse = { [Name in EndpointName]: ResponseOf<Name> }[EndpointName];
/** Keys that a schema lists, without its index signature. */
type Listed<T> = T extends unknown
  ? keyof { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] }
  : never;
type FieldOf<T, K> = T extends unknown ? (K extends keyof T ? T[K] : never) : never;
type KnownFieldOf<T, K> = T extends unknown ? (K extends Listed<T> ? FieldOf<T, K> : never) : never;
type EveryField = { readonly [K in Listed<AnyResponse>]: NonNullable<KnownFieldOf<AnyResponse, K>> };

interface Envelope {
  readonly ok: boolean;
  readonly success: boolean;
  readonly type: string;
  readonly status: number | string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly status: number;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

/** Every field that some answer of the contract has. A test reads those of the answer that it expects. */
export type AnswerBody = Envelope & Omit<EveryField, keyof Envelope>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; empty if the answer is not JSON. */
  readonly body: AnswerBody;
  /** The body as it was received. */
  readonly bytes: Buffer;
  readonly text: string;
}

export interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly rawBody?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the target's key; null sends no `Authorization`. */
  readonly key?: string | null;
  /** A base other than the target's, such as that of the legacy surface. Its answers are not checked. */
  readonly base?: string;
}
