import { describe, expect, it } from 'vitest';
import { judgeDeployments, otherDeployments } from '../../../../src/cli/doctor/check-deployments.js';
import { judgeRetention } from '../../../../src/cli/doctor/check-temporal.js';

describe('doctor', () => {
  it('reads a retention that Temporal gives as a long number, and says if Temporal gives none', () => {
    const namespace = 'default';
    expect(judgeRetention({ seconds: { toString: () => '2592000' } }, { namespace })).toMatchObject({ status: 'ok' });
    expect(judgeRetention(null, { namespace })).toMatchObject({ status: 'skipped' });
  });

  it('names deployments with sandboxes on the account and jobs elsewhere', () => {
    const nameOf = (deployment: string) => `sf-${deployment}-job-aaaaaaaaaaaa-main-1`;
    const names = [null, 'by hand', nameOf('mine'), nameOf('theirs'), nameOf('theirs'), nameOf('a')];
    expect(otherDeployments(names, 'mine')).toEqual(['a', 'theirs']);
    expect(judgeDeployments([])).toMatchObject({ status: 'ok' });
    const seven = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(judgeDeployments(seven).message).toContain('a, b, c, d, e and 2 more');
  });
});
