/** kill -9 of each part of the embedded stack during a job. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import {
  accepted,
  type BooksRead,
  embeddedBooks,
  killPart,
  type Part,
  partPids,
  patient,
  releaseAgents,
  reportOf,
  shell,
  untilBooks,
  worksUntilReleased,
} from '../../../e2e/stack/fixture.js';

const once = { sandboxes: 1, prompts: 1, stops: 1 };
// A boot and an archive last 4 s, and a busy machine may show them only after that. Then the kill comes late, and the test still holds.
const isBooting = ({ sandboxes }: BooksRead) => sandboxes.length > 0;
const isPrompted = ({ prompts }: BooksRead) => prompts[0]?.status === 'running';
const isArchiving = ({ stops }: BooksRead) => stops.length > 0;

/** A stack with a boot and an archive long enough to interrupt. */
function slowHome({ onTestFinished }: TestContext): CliHome {
  const cli = createCliHome();
  onTestFinished(() => cli.close());
  const timings = { bootMs: 4_000, archiveMs: 4_000 };
  writeFileSync(join(cli.home, 'local-service.json'), JSON.stringify({ timings }));
  return cli;
}

/** Kills a part and waits until the supervisor has restarted it. */
async function killAndAwait(cli: CliHome, part: Part, { expect }: TestContext): Promise<void> {
  const killed = killPart(cli, part);
  await expect.poll(() => partPids(cli, part)[0] ?? killed, patient).not.toBe(killed);
}

describe.concurrent('a part that is killed during a job', () => {
  it('worker: the prompt is followed by the next one, and was sent once', async (context) => {
    const { expect } = context;
    const cli = slowHome(context);
    const run = cli.start(['run', worksUntilReleased, '--json']);
    await untilBooks(cli, isPrompted);
    await killAndAwait(cli, 'worker', context);
    await releaseAgents(cli);
    const ended = await run.ended;
    expect(reportOf(ended)).toMatchObject({ outcome: 'completed', prompts: [{ result: 'through\n' }] });
    expect(ended.exitCode).toBe(0);
    expect(accepted(await embeddedBooks(cli))).toEqual(once);
  });

  it.for(['bridge', 'temporal', 'local'] as const)(
    '%s, at three moments: the job completes, and every call was made once',
    async (part, context) => {
      const { expect } = context;
      const cli = slowHome(context);
      const run = cli.start(['run', worksUntilReleased, '--json']);
      await untilBooks(cli, isBooting);
      await killAndAwait(cli, part, context);
      await untilBooks(cli, isPrompted);
      await killAndAwait(cli, part, context);
      await releaseAgents(cli);
      await untilBooks(cli, isArchiving);
      await killAndAwait(cli, part, context);
      expect(reportOf(await run.ended)).toMatchObject({ outcome: 'completed', prompts: [{ result: 'through\n' }] });
      expect(accepted(await embeddedBooks(cli))).toEqual(once);
    },
  );

  it('supervisor: the whole stack ends with it, and the next command completes the job', async (context) => {
    const { expect } = context;
    const cli = slowHome(context);
    expect(await cli.run(['run', worksUntilReleased, '--id', 'left', '--detach'])).toMatchObject({ exitCode: 0 });
    await untilBooks(cli, isPrompted);
    killPart(cli, 'supervisor');
    await expect.poll(() => cli.alive(), patient).toEqual([]);
    const watched = cli.start(['jobs', 'watch', 'left', '--json']);
    await untilBooks(cli, isPrompted);
    await releaseAgents(cli);
    expect(reportOf(await watched.ended)).toMatchObject({ outcome: 'completed', prompts: [{ result: 'through\n' }] });
    expect(await cli.run(['run', worksUntilReleased, '--id', 'left'])).toMatchObject({
      exitCode: 0,
      stdout: 'through\n',
    });
    expect(accepted(await embeddedBooks(cli))).toEqual(once);
  });

  it('supervisor of a watching command: the command starts the stack again and keeps watching', async (context) => {
    const { expect } = context;
    const cli = slowHome(context);
    const run = cli.start(['run', shell('echo through'), '--json']);
    await untilBooks(cli, isArchiving);
    killPart(cli, 'supervisor');
    expect(reportOf(await run.ended)).toMatchObject({ outcome: 'completed', stop: { kept: 'saved' } });
    expect(accepted(await embeddedBooks(cli))).toEqual(once);
  });
});
