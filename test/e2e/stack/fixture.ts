/** Reads a whole stack for tests: its processes by part, and the records of its service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { FaultInput, Inspection } from '../../../local-service/src/index.js';
import { parseOwnedSandboxName } from '../../../src/addresses/addresses.js';
import type { JobReport } from '../../../src/cli/output/job-report.js';
import { listProcesses, temporalArguments } from '../../setup/stack-harness.js';
import type { CliHome, Ended } from '../cli/program.js';

export type Part = 'supervisor' | 'temporal' | 'local' | 'worker' | 'bridge';
export type BooksRead = { readonly [List in Exclude<keyof Inspection, 'summary'>]: ReturnType<Inspection[List]> };

/** A busy machine needs this time. */
export const patient = { timeout: 120_000, interval: 100 };

export const shell = (script: string) => `\`\`\`sh\n${script}\n\`\`\``;

/** The running processes of a part of the embedded stack: one, or none while it restarts. */
export function partPids(cli: CliHome, part: Part): readonly number[] {
  const programs: Partial<Record<Part, string>> = { temporal: temporalArguments, local: 'program/main.js --port' };
  const pids = cli.alive(programs[part] ?? `main.js ${part} `);
  // A child has the arguments of its parent until it becomes its own program.
  return pids.filter((pid) => !pids.includes(parentOf(pid)));
}

/** The process itself if it has ended. */
function parentOf(pid: number): number {
  try {
    return Number(listProcesses(['-o', 'ppid=', '-p', String(pid)])[0]);
  } catch {
    return pid;
  }
}

/** Kills the process of a part, which the test has seen running. @returns its process id */
export function killPart(cli: CliHome, part: Part): number {
  const [pid] = partPids(cli, part);
  if (pid === undefined) throw new Error(`There is no process of the ${part}.`);
  process.kill(pid, 'SIGKILL');
  return pid;
}

/** The service of an embedded stack: the home contains its address and its key. */
export function embeddedService({ home }: CliHome): { readonly url: string; readonly apiKey: string } {
  const { localService } = JSON.parse(readFileSync(join(home, 'ports.json'), 'utf8')) as { localService: number };
  const apiKey = readFileSync(join(home, 'local-api-key'), 'utf8').trim();
  return { url: `http://127.0.0.1:${localService}/v1`, apiKey };
}

export async function readBooks(service: { readonly url: string; readonly apiKey: string }): Promise<BooksRead> {
  const answer = await fetch(new URL('/_local/books', service.url), {
    headers: { authorization: `Bearer ${service.apiKey}` },
  });
  if (!answer.ok) throw new Error(`The books were refused with ${answer.status}.`);
  return (await answer.json()) as BooksRead;
}

/** The service's records of the sandboxes that one job of the deployment `parts` has created. */
export function booksOf(jobId: string, books: BooksRead): BooksRead {
  const sandboxes = books.sandboxes.filter(({ name }) => parseOwnedSandboxName(name)?.jobId === jobId);
  const ids = new Set(sandboxes.map(({ id }) => id));
  const prompts = books.prompts.filter(({ sandboxId }) => ids.has(sandboxId));
  const stops = books.stops.filter(({ sandboxId }) => ids.has(sandboxId));
  return { ...books, sandboxes, prompts, stops };
}

/** Arms faults of a service that allows it. */
export async function arm(
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  faults: readonly FaultInput[],
): Promise<void> {
  for (const fault of faults) {
    const answer = await fetch(new URL('/_local/faults', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    });
    if (!answer.ok) throw new Error(`The fault was refused: ${await answer.text()}`);
  }
}

/** Ends all faults that are armed. */
export async function disarm({ url, apiKey }: { readonly url: string; readonly apiKey: string }): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const answer = await fetch(new URL('/_local/faults', url), { method: 'DELETE', headers });
  if (!answer.ok) throw new Error(`The end of the faults was refused with ${answer.status}.`);
}

/** The faults that have not been applied as often as they should. */
export async function armed({
  url,
  apiKey,
}: {
  readonly url: string;
  readonly apiKey: string;
}): Promise<
  readonly { readonly fault: { readonly kind: string; readonly times: number }; readonly remaining: number }[]
> {
  const answer = await fetch(new URL('/_local/faults', url), { headers: { authorization: `Bearer ${apiKey}` } });
  return ((await answer.json()) as { faults: Awaited<ReturnType<typeof armed>> }).faults;
}

/** The records of an embedded stack; undefined while its service does not answer. */
export async function embeddedBooks(cli: CliHome): Promise<BooksRead | undefined> {
  try {
    return await readBooks(embeddedService(cli));
  } catch {
    return undefined;
  }
}

/** Resolves once the records of the embedded service meet the condition. */
export async function untilBooks(cli: CliHome, condition: (books: BooksRead) => boolean): Promise<void> {
  const see = async () => {
    const books = await embeddedBooks(cli);
    if (books && condition(books)) return;
    const seen = JSON.stringify(accepted(books) ?? 'no answer of the service');
    throw new Error(`The books of ${cli.home} do not show what is waited for: ${seen}\n${cli.said()}`);
  };
  // Not expect.poll, which cannot find its test among concurrent ones.
  await vi.waitFor(see, { ...patient, interval: 50 });
}

/** The output of `--json`. */
export function reportOf({ stdout, stderr }: Ended): JobReport {
  if (!stdout.startsWith('{')) throw new Error(`There is no report: ${stdout}${stderr}`);
  return JSON.parse(stdout) as JobReport;
}

/** The number of calls that the service has accepted, by kind. Undefined if the records cannot be read. */
export function accepted(books: BooksRead | undefined) {
  return books && { sandboxes: books.sandboxes.length, prompts: books.prompts.length, stops: books.stops.length };
}

/** A prompt that runs until the test writes the file that it waits for. */
export const worksUntilReleased = shell('while [ ! -e go ]; do sleep 0.1; done; echo through');

/** Lets the agents of all sandboxes finish that are not archived, as soon as the service answers. Safe to repeat. */
export async function releaseAgents(cli: CliHome): Promise<void> {
  await vi.waitFor(async () => {
    const { url, apiKey } = embeddedService(cli);
    for (const { id, state } of (await readBooks({ url, apiKey })).sandboxes) {
      if (state === 'archived') continue;
      const answer = await fetch(`${url}/sandboxes/${id}/files`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ path: 'go', content: '' }),
      });
      if (!answer.ok) throw new Error(`The file was refused with ${answer.status}.`);
    }
  }, patient);
}
