/** The id of a rerun that a selection starts. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jobIdProblem, maxDeploymentAndJobIdLength } from '../../../../src/addresses/addresses.js';
import { rerunIdOf, rerunSuffix } from '../../../../src/workflow-client/jobs/rerun-job.js';

const word = (maxLength: number) => fc.stringMatching(/^[a-z0-9]+$/).map((text) => text.slice(0, maxLength));
const job = fc
  .record({ deployment: word(12), words: fc.array(word(8), { minLength: 1, maxLength: 5 }) })
  .map(({ deployment, words }) => ({
    deployment,
    jobId: words
      .join('-')
      .slice(0, maxDeploymentAndJobIdLength - deployment.length)
      .replace(/-$/, ''),
  }));
const time = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());

it('the id of a rerun is a valid id, always the same, and another one for another execution of the job', () => {
  fc.assert(
    fc.property(job, time, time, (earlier, startedAt, otherwise) => {
      const id = rerunIdOf(earlier, startedAt);
      expect(jobIdProblem(earlier.deployment, id)).toBeUndefined();
      expect(id).toMatch(rerunSuffix);
      expect(id).toBe(rerunIdOf(earlier, startedAt));
      if (otherwise !== startedAt) expect(id).not.toBe(rerunIdOf(earlier, otherwise));
      const again = rerunIdOf({ ...earlier, jobId: id }, startedAt);
      expect(again).not.toBe(id);
      expect(again, 'ids grow no longer with each rerun').toHaveLength(id.length);
    }),
  );
});
