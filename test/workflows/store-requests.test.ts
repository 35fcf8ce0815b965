/** What a job and an item ask of S3, if their results are there: docs/scale.md says so. Gate; costs some ten CPU seconds. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createResultStore } from '../../src/result-store/index.js';
import { useBucketAt } from '../unit/s3/aws-settings.js';
import { createFakeS3, type TestBucket } from '../unit/s3/fake-s3.js';
import { archivedSandbox, fanoutInput, items, run, source } from './fanout/fanout-harness.js';
import { createStand, type Stand, withoutPolls } from './workflow-harness.js';

let stand: Stand;
let bucket: TestBucket;
const requests: string[] = [];
beforeAll(async () => {
  bucket = await createFakeS3({ onRequest: (method) => void requests.push(method) });
  useBucketAt(bucket.endpoint);
  const follow = { minIntervalMs: 100, briefFollowMs: 30_000 };
  const results = () => createResultStore(`s3://${bucket.bucket}/all`);
  stand = await createStand({ results, worker: { forksPerSecond: 1_000, follow } });
});
afterAll(async () => {
  await stand.close();
  await bucket.close();
});

async function requestsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = requests.length;
  await work();
  const counts: Record<string, number> = {};
  for (const method of requests.slice(before)) counts[method] = (counts[method] ?? 0) + 1;
  return counts;
}

/** A cell of the table of the page. */
function documented(column: number): string | undefined {
  const rows = readFileSync(new URL('../../docs/scale.md', import.meta.url), 'utf8').split('\n');
  return rows
    .find((line) => line.startsWith('| S3 requests |'))
    ?.split('|')
    [column]?.trim();
}

const told = (counts: Record<string, number>) => {
  const { PUT = 0, HEAD = 0, GET = 0, ...others } = counts;
  expect(others).toEqual({});
  const kinds = Object.entries({ PUT, HEAD, GET }).filter(([, count]) => count > 0);
  return `${PUT + HEAD + GET}: ${kinds.map(([method, count]) => `${count} ${method}`).join(', ')}`;
};

it('a job', async () => {
  const counts = await requestsOf(async () => (await stand.start({ timing: withoutPolls })).result());
  expect(told(counts)).toBe(documented(2));
});

it('an item', async () => {
  const sandboxId = await archivedSandbox(stand);
  const of = (count: number) => {
    const input = fanoutInput(source(sandboxId), { timing: withoutPolls, policy: { concurrency: count, end: 'stop' } });
    return requestsOf(() => run(stand, input, items(count)));
  };
  const [few, many] = [await of(2), await of(22)];
  // Reports of a chunk are written as they come, so a batch has some more or less.
  const each = Object.entries(many).map(([method, count]) => [method, Math.round((count - (few[method] ?? 0)) / 20)]);
  expect(told(Object.fromEntries(each))).toBe(documented(3));
});
