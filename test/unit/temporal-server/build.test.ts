import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildTemporalCli } from '../../../src/temporal-server/build.js';
import { createWorkshop } from './fixture.js';

let workshop: ReturnType<typeof createWorkshop>;
let lines: string[];
beforeEach(() => {
  workshop = createWorkshop();
  lines = [];
});
afterEach(() => workshop.remove());

const build = (go: string) =>
  buildTemporalCli({ directory: workshop.directory, go, onProgress: (line) => void lines.push(line) });

it('announces no build without Go', async () => {
  await expect(build(workshop.missing)).rejects.toMatchObject({ code: 'go_missing' });
  expect(lines).toEqual([]);
});

it('announces a build with Go, and its end', async () => {
  await build(workshop.program('go', 'exit 0'));
  expect(lines).toEqual([
    expect.stringMatching(/^building the Temporal server v1\.5\.1 with go install/),
    expect.stringMatching(/^built the Temporal server in \d+ s$/),
  ]);
});
