/** The id of a rerun that a selection starts. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jobIdProblem, maxDeploymentAndJobIdLength } from '../../../../src/addresses/addresses.js';
import { rerunIdOf } from '../../../../src/workflow-client/jobs/rerun-job.js';

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

it('the id of a rerun is a valid id, always the same, and another one for another run of the job', () => {
  fc.assert(
    fc.property(job, fc.uuid(), fc.uuid(), (earlier, runId, otherRunId) => {
      const id = rerunIdOf(earlier, runId);
      expect(jobIdProblem(earlier.deployment, id)).toBeUndefined();
      expect(id).toMatch(/-r[0-9a-f]{8}$/);
      expect(id).toBe(rerunIdOf(earlier, runId));
      if (otherRunId !== runId) expect(id).not.toBe(rerunIdOf(earlier, otherRunId));
    }),
  );
});
