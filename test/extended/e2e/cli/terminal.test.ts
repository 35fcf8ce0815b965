/**
 * What is redrawn in a real terminal, while a batch fails, the window changes, the supervisor dies and Ctrl-C is typed.
 * Extended tier. The second test costs 12 CPU s, less if it shares the stack of the first.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { displayWidth } from '../../../../src/cli/output/display-width.js';
import { type CliHome, createCliHome, type InTerminal } from '../../../e2e/cli/program.js';
import { killPart, releaseAgents, shell } from '../../../e2e/stack/fixture.js';

const ctrlC = '\u0003';
const clear = '\u001b[J';
/** The lines of the newest board. */
const board = ({ stdout }: InTerminal) => stripVTControlCharacters(stdout().split(clear).at(-1) ?? '').split(/[\r\n]+/);
/** The counters and the rows of every board that was drawn. */
const boards = ({ stdout }: InTerminal) =>
  stdout()
    .split(clear)
    .flatMap((drawn) => {
      const text = stripVTControlCharacters(drawn);
      const [, failed, running] = / (\d+) failed · (\d+) running/.exec(text)?.map(Number) ?? [];
      const rows = text.split(/[\r\n]+/).filter((line) => /^(?:bad|good|long) /.test(line));
      const failedRows = rows.filter((line) => /^bad +prompt_failed /.test(line));
      return failed === undefined ? [] : { failed, running, rows, failedRows };
    });
const draws = ({ stdout }: InTerminal) => stdout().split(clear).length;

describe.skipIf(process.platform !== 'linux')('the board of a batch in a terminal', () => {
  let cli: CliHome;
  const env = { SANDFLOW_IDLE_SECONDS: '3600' };
  beforeAll(() => {
    cli = createCliHome();
  });
  afterAll(() => cli.close());

  it('goes on while items fail and the terminal changes, until Ctrl-C; the exit code is that of the batch', async () => {
    const items = [
      { id: 'early', prompt: shell('exit 3') },
      { id: 'later', prompt: shell('exit 7') },
      { id: 'long', prompt: shell('sleep 3600') },
    ];
    await writeFile(join(cli.home, 'items.jsonl'), items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    const batch = cli.startInTerminal(['fanout', 'items.jsonl', '--id', 'live'], env);
    await expect
      .poll(() => board(batch).join('\n'))
      .toMatch(/^(?:(?:early|later) +prompt_failed .*\n){2}long +agent works/m);
    for (const columns of [40, 0, 1, 80]) {
      const before = draws(batch);
      batch.resize(columns);
      // The first may have begun before the terminal changed.
      await expect.poll(() => draws(batch)).toBeGreaterThan(before + 1);
      if (columns > 1) expect(Math.max(...board(batch).map(displayWidth)), `${columns} columns`).toBeLessThan(columns);
    }
    batch.type(ctrlC);
    expect(await batch.ended).toMatchObject({ exitCode: 130, stdout: expect.not.stringMatching(/Error|defect/) });

    expect(await cli.run(['fanout', 'cancel', 'live', '--wait'], env)).toMatchObject({ exitCode: 0 });
    const again = await cli.startInTerminal(['fanout', 'watch', 'live'], env).ended;
    expect(again).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('2 prompt_failed') });
  });

  it('shows in no board an item that has ended as running, and every failure, also after its supervisor was killed', async () => {
    const released = 'while [ ! -e go ]; do sleep 0.1; done';
    const items = [
      { id: 'bad', prompt: shell(`${released}; exit 3`) },
      { id: 'good', prompt: shell(released) },
      { id: 'long', prompt: shell('sleep 3600') },
    ];
    await writeFile(join(cli.home, 'items.jsonl'), items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    const batch = cli.startInTerminal(['fanout', 'items.jsonl', '--id', 'killed'], env);
    await expect.poll(() => board(batch).join('\n')).toMatch(/^(?:(?:bad|good|long) +agent works.*\n?){3}/m);
    killPart(cli, 'supervisor');
    await expect.poll(batch.stdout).toContain('Reconnected.');
    await releaseAgents(cli);
    await expect.poll(() => board(batch).join('\n')).toMatch(/^bad +prompt_failed .*\nlong +agent works/m);
    batch.type(ctrlC);
    expect(await batch.ended).toMatchObject({ exitCode: 130 });
    for (const { failed, running, rows, failedRows } of boards(batch)) {
      expect(failedRows.length, rows.join('\n')).toBe(failed);
      expect(rows.length - failedRows.length, rows.join('\n')).toBeLessThanOrEqual(running ?? 0);
    }
    expect(await cli.run(['fanout', 'cancel', 'killed', '--wait'], env)).toMatchObject({ exitCode: 0 });
  });
});
