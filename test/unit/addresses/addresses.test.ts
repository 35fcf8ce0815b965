import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  deploymentOfWorkflow,
  deploymentProblem,
  executionOf,
  itemStep,
  itemWorkflowId,
  jobIdOfWorkflow,
  jobIdProblem,
  jobWorkflowId,
  maxDeploymentAndJobIdLength,
  type OwnedName,
  ownedSandboxName,
  ownerWorkflowId,
  parseOwnedSandboxName,
  prepareStep,
  prepareWorkflowId,
  sourceStep,
} from '../../../src/addresses/addresses.js';
import { fanoutPlaces, fanoutPrefix, itemRecords } from '../../../src/addresses/fanout-addresses.js';
import { nameSchema } from '../../../src/contract/requests/sandbox-requests.js';

const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
const word = (maxLength: number) => fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength });
const execution = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 12, maxLength: 12 });

/** Every name of the grammar: a job id uses the characters that the deployment leaves. */
const owned: fc.Arbitrary<OwnedName> = word(12).chain((deployment) =>
  fc.record({
    deployment: fc.constant(deployment),
    jobId: fc.array(word(9), { minLength: 1, maxLength: 6 }).map((words) =>
      words
        .join('-')
        .slice(0, maxDeploymentAndJobIdLength - deployment.length)
        .replace(/-+$/, ''),
    ),
    execution,
    // A job id that represents an item leads elsewhere.
    step: word(6).filter((step) => !/^i[0-9a-z]/.test(step)),
    generation: fc.integer({ min: 1, max: 999 }),
  }),
);

const base: OwnedName = { deployment: 'd', jobId: 'job', execution: '0123456789ab', step: 'main', generation: 1 };

describe('the name of a sandbox', () => {
  it('S13: reads back to exactly its parts', () => {
    fc.assert(
      fc.property(owned, (parts) => {
        expect(parseOwnedSandboxName(ownedSandboxName(parts))).toEqual(parts);
      }),
    );
  });

  it('S8: leads to the workflow id of its job without other information', () => {
    fc.assert(
      fc.property(owned, (parts) => {
        const workflowId = ownerWorkflowId(ownedSandboxName(parts)) ?? '';
        expect(workflowId).toBe(jobWorkflowId(parts.deployment, parts.jobId));
        expect(jobIdOfWorkflow(parts.deployment, workflowId)).toBe(parts.jobId);
      }),
    );
  });

  it('S8: of a fork leads to the workflow of its item, which no job can have', () => {
    const index = fc.integer({ min: 0, max: 36 ** 5 - 1 });
    fc.assert(
      fc.property(owned, index, (parts, place) => {
        const name = ownedSandboxName({ ...parts, step: itemStep(place) });
        const workflowId = itemWorkflowId(parts.deployment, parts.jobId, place);
        expect(ownerWorkflowId(name)).toBe(workflowId);
        const jobId = jobIdOfWorkflow(parts.deployment, workflowId) ?? '';
        expect(jobIdProblem(parts.deployment, jobId)).toBeDefined();
      }),
    );
  });

  it('S13: has at most 63 characters of a-z0-9-, which the service accepts', () => {
    fc.assert(
      fc.property(owned, (parts) => {
        const name = ownedSandboxName(parts);
        expect(name).toMatch(/^[a-z0-9-]{1,63}$/);
        expect(nameSchema.safeParse(name).success).toBe(true);
      }),
    );
  });

  it('S13: is unique to a job, step and generation', () => {
    fc.assert(
      fc.property(owned, owned, (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        expect(ownedSandboxName(a)).not.toBe(ownedSandboxName(b));
      }),
    );
  });

  it('S8: of the source that a batch prepares leads to the workflow that prepares it', () => {
    const name = ownedSandboxName({ ...base, step: prepareStep });
    expect(ownerWorkflowId(name)).toBe(prepareWorkflowId(base.deployment, base.jobId));
    for (const number of [0, 35, 999]) {
      const step = sourceStep(number);
      const own = ownedSandboxName({ ...base, step });
      expect(ownerWorkflowId(own)).toBe(prepareWorkflowId(base.deployment, base.jobId, step));
      expect(ownerWorkflowId(own)).not.toBe(ownerWorkflowId(name));
    }
  });

  it('has room for the longest job id, and not for one more character', () => {
    const longest = 'x'.repeat(maxDeploymentAndJobIdLength - 1);
    const parts = { ...base, jobId: longest, step: 'abcdef', generation: 999 };
    expect(ownedSandboxName(parts)).toHaveLength(63);
    expect(jobIdProblem('d', longest)).toBeUndefined();
    expect(jobIdProblem('d', `${longest}x`)).toMatch(/the maximum is/);
    expect(() => ownedSandboxName({ ...parts, jobId: `${longest}x` })).toThrow(RangeError);
  });
});

describe('a text outside the grammar', () => {
  it('has no owner and throws nothing', () => {
    const near = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('a', '-', '0', 'sf-', 'A', '.', '\n'), maxLength: 70 }),
      owned.map((parts) => `${ownedSandboxName(parts)}\n`),
      owned.map((parts) => ownedSandboxName(parts).toUpperCase()),
    );
    fc.assert(
      fc.property(near, (name) => {
        const parts = parseOwnedSandboxName(name);
        if (parts) expect(ownedSandboxName(parts)).toBe(name);
        else expect(ownerWorkflowId(name)).toBeUndefined();
      }),
    );
  });

  it.each([
    ['a step with a dash', { step: 'a-b' }],
    ['a step of seven', { step: 'abcdefg' }],
    ['an empty step', { step: '' }],
    ['generation 0', { generation: 0 }],
    ['generation 1000', { generation: 1000 }],
    ['generation 1.5', { generation: 1.5 }],
    ['a short execution', { execution: 'abc' }],
    ['an execution with a dash', { execution: 'a-0123456789ab' }],
    ['a deployment with a dash', { deployment: 'a-b' }],
    ['a job id that takes in the execution', { jobId: 'job-0123456789ab', execution: '0123456789ab-main-1' }],
    ['an upper-case job id', { jobId: 'Job' }],
    ['a job id with two dashes in a row', { jobId: 'a--b' }],
    ['a job id that ends in a dash', { jobId: 'a-' }],
  ])('is refused: %s', (_, change) => {
    expect(() => ownedSandboxName({ ...base, ...change })).toThrow(/^"sf-.*" is not a valid sandbox name$/);
  });

  it('is shown in part if it is a very long job id', () => {
    const problem = jobIdProblem('d', 'a'.repeat(100_000));
    expect(problem).toContain(`"${'a'.repeat(80)}" has 100000 characters`);
  });

  it.each(['', 'a-b', 'A', 'ü', 'a'.repeat(13)])('cannot be a deployment: "%s"', (deployment) => {
    expect(deploymentProblem(deployment)).toMatch(/1 to 12/);
  });

  it.each(['', 'A', 'a--b', '-a', 'a-', 'a_b', 'a b', 'ä'])('cannot be a job id: "%s"', (jobId) => {
    expect(jobIdProblem('d', jobId)).toBeDefined();
  });

  it('is refused as a name exactly if its job id is invalid', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '0', '-', 'B'), maxLength: 45 }), (jobId) => {
        const make = () => ownedSandboxName({ ...base, jobId, step: 'abcdef', generation: 999 });
        if (jobIdProblem(base.deployment, jobId)) expect(make).toThrow(RangeError);
        else expect(ownerWorkflowId(make())).toBe(jobWorkflowId(base.deployment, jobId));
      }),
    );
  });
});

describe('the execution part', () => {
  it('is the last 12 hex digits of the first run id', () => {
    expect(executionOf('0198f2c5-9f00-7abc-8def-0123456789ab')).toBe('0123456789ab');
    expect(executionOf('0198-0123-4567-89ab')).toBe('0123456789ab');
  });

  it('of another deployment is not read as ours', () => {
    expect(jobIdOfWorkflow('a', jobWorkflowId('b', 'job'))).toBeUndefined();
  });
});

describe('the addresses of a batch', () => {
  it('are each of their own deployment, batch and part', () => {
    const places = fanoutPlaces({ deployment: 'd', batchId: 'many', batchKey: 'k1' });
    expect([places.chunkWorkflow(3), places.itemWorkflow(36)]).toEqual(['sf-d-many/chunk-3', 'sf-d-many/i10']);
    expect(fanoutPrefix('d', 'many', 'k1')).toBe('fanout/sf-d-many/k1');
    expect([places.chunk(3), places.seal, places.item(36), places.results, places.summary]).toEqual([
      'fanout/sf-d-many/k1/chunks/3.json',
      'fanout/sf-d-many/k1/chunks/seal.json',
      'fanout/sf-d-many/k1/items/36',
      'fanout/sf-d-many/k1/results.jsonl',
      'fanout/sf-d-many/k1/batch.json',
    ]);
    expect(places.seal.startsWith(`${places.chunks}/`)).toBe(true);
    expect(itemRecords(places.item(36)).key(2)).toBe('fanout/sf-d-many/k1/items/36/keys/2.json');
  });
});

describe('the deployment', () => {
  it.each(['a', '0', 'a'.repeat(12)])('may be "%s"', (deployment) => {
    expect(deploymentProblem(deployment)).toBeUndefined();
  });

  it('of a workflow id is found, and a stop or a watch has none', () => {
    expect(deploymentOfWorkflow(itemWorkflowId('abc', 'three', 85))).toBe('abc');
    expect(deploymentOfWorkflow(jobWorkflowId('abc', 'a-b'))).toBe('abc');
    expect(deploymentOfWorkflow(`of-another-${jobWorkflowId('abc', 'a-b')}`)).toBeUndefined();
    expect(deploymentOfWorkflow('sandbox-stop/bx_2345abcd')).toBeUndefined();
  });
});
