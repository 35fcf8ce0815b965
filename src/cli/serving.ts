/** What `worker`, `bridge`, `local` and `dev` have in common: they say where they serve, and go on until a signal. */
import type { CliIo } from './io.js';
import { printJson } from './output/json.js';

export interface Ready {
  /** Where it serves; undefined for a worker, which only calls out. */
  readonly url?: string;
  /** One line for people. */
  readonly text: string;
}

/** Says that it serves: one JSON line on stdout for programs, a sentence on stderr for people. */
export function sayReady(io: CliIo, ready: Ready, readyJson: boolean): void {
  if (readyJson) printJson({ write: (text) => io.stdout.write(text) }, { ready: true, url: ready.url });
  else io.stderr.write(`${ready.text}\n`);
}

/** Resolves at the first Ctrl-C or SIGTERM. */
export function interruption(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Reads a port. 0 lets the system choose. */
export function parsePort(text: string): number | undefined {
  const port = Number(text);
  return /^\d+$/.test(text) && port <= 65_535 ? port : undefined;
}
