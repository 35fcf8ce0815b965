/** What `worker`, `bridge`, `local` and `dev` have in common: they say where they serve, and go on until a signal. */
import type { CliIo } from '../io.js';
import { jsonText } from '../output/json.js';

export interface Ready {
  /** Where it serves; left out for a worker, which only calls out. */
  readonly url?: string;
  /** One line for people. */
  readonly text: string;
}

/** Says that it serves: one JSON line on stdout for programs, a sentence on stderr for people. */
export function sayReady(io: CliIo, { url, text }: Ready, options: { readonly readyJson?: boolean }): void {
  if (options.readyJson) io.stdout.write(`${jsonText({ ready: true, url })}\n`);
  else io.stderr.write(`${text}\n`);
}

/** Resolves at the first Ctrl-C or SIGTERM. */
export function interruption(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
