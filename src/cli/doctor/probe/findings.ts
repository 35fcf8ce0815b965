/** What a probe has found, as text. */
import type { CliIo } from '../../io.js';
import { createPaint } from '../../output/terminal.js';
import { oneLine } from '../../output/terminal-safe.js';
import { notTried } from './what-follows.js';

export interface Finding {
  /** Of an assumption, or `clock`. */
  readonly id: string;
  /** What it was tried with; empty if it is never tried. */
  readonly needs: string;
  readonly verdict: 'confirmed' | 'refuted' | 'not tried';
  /** Why, or what was measured; may be empty. */
  readonly why: string;
  /** What follows from a refutation. */
  readonly follows: string | null;
  /** Method, path, status and id of each request. */
  readonly requests: readonly string[];
}

const colours = { confirmed: 'green', refuted: 'red', 'not tried': 'dim' } as const;

export function printFinding(
  { id, verdict, why, follows, requests }: Finding,
  { stdout }: Pick<CliIo, 'stdout'>,
): void {
  const seen = verdict === 'not tried' ? [] : requests.slice(-3);
  const text = [why, seen.length > 0 && `(${seen.join('; ')})`].filter(Boolean).join(' ');
  stdout.write(`${createPaint(stdout)(colours[verdict], verdict.padEnd(9))}  ${id.padEnd(22)}  ${oneLine(text)}\n`);
  if (follows !== null) stdout.write(`${' '.repeat(35)}${oneLine(follows)}\n`);
}

export function printSummary(
  findings: readonly Finding[],
  told: { readonly gone: readonly string[]; readonly left: readonly string[]; readonly path: string },
  { stdout }: Pick<CliIo, 'stdout'>,
): void {
  const counts = Object.keys(colours).map(
    (one) => `${findings.filter(({ verdict }) => verdict === one).length} ${one}`,
  );
  for (const [why, ids] of Object.entries(notTried)) stdout.write(`not tried  ${why}\n${' '.repeat(11)}${ids}\n`);
  stdout.write(`${counts.join(', ')}.\n`);
  if (told.gone.length > 0) stdout.write(`Deleted, and seen to be gone: ${told.gone.join(', ')}.\n`);
  if (told.left.length > 0) stdout.write(`Left, until the next probe deletes it: ${told.left.join(', ')}.\n`);
  stdout.write(`The record: ${told.path}\n`);
}
