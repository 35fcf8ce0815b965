/** Why a plan leaves a sandbox alone. */
import { describe, expect, test } from 'vitest';
import type { SandboxFacts } from '../../../src/protocol/cleanup-plan.js';
import type { CleanupPolicy, Rule } from '../../../src/protocol/cleanup-policy.js';
import type { Ownership } from '../../../src/protocol/sandbox-owner.js';
import { candidateWith, daysAgo, nobody, planWith, policyWith, ruleWith } from './builders.js';

interface Given {
  readonly facts?: Partial<SandboxFacts>;
  readonly owner?: Ownership;
  readonly rule?: Rule;
  readonly policy?: Partial<CleanupPolicy>;
}

function entryFor({ facts, owner = nobody, rule = ruleWith(), policy }: Given) {
  const plan = planWith({
    policy: policyWith({ rules: [rule], ...policy }),
    candidates: [candidateWith(facts, owner)],
  });
  return plan.entries[0];
}

const workflowId = 'sf-mine-a';
const kept: Ownership = { status: 'kept', workflowId };
const everyState = { states: ['provisioning', 'ready', 'archiving', 'archived', 'cancelled'] };
const stops = ruleWith({ action: 'stop' });

test.each<[string, string, Given]>([
  ['no_rule', 'no rule matches', { rule: ruleWith({ match: { names: ['other'] } }) }],
  ['kept_by_owner', 'sf-mine-a kept it on purpose, and no rule for kept sandboxes matches', { owner: kept }],
  ['no_rule', 'no rule matches', { owner: { status: 'closed', workflowId }, rule: ruleWith({ match: { names: [] } }) }],
  ['rule_keeps', 'its rule keeps it', { rule: ruleWith({ action: 'keep' }) }],
  ['no_name', 'it has no name, so its owner is unknown', { facts: { name: null } }],
  ['protected', 'its name is protected', { policy: { protect: ['ci-*'] } }],
  ['owner_open', 'its owner sf-mine-a is running', { owner: { status: 'open', workflowId } }],
  [
    'owner_unknown',
    'Temporal has no record of the execution of sf-mine-a that created it',
    { owner: { status: 'unknown', workflowId } },
  ],
  ['other_deployment', 'another deployment owns it (sf-mine-a)', { owner: { status: 'other-deployment', workflowId } }],
  ['kept_as_newest', 'it is one of the newest 3 of its group', { rule: ruleWith({ keepLast: 3 }) }],
  [
    'nothing_to_do',
    'the service has removed it',
    { facts: { state: 'cancelled' }, rule: ruleWith({ match: everyState }) },
  ],
  ['in_between', 'it is being created', { facts: { state: 'provisioning' }, rule: ruleWith({ match: everyState }) }],
  ['in_between', 'it is being stopped', { facts: { state: 'archiving' }, rule: ruleWith({ match: everyState }) }],
  ['nothing_to_do', 'it is already stopped', { rule: stops }],
  ['not_yours', 'only its creator may delete it', { facts: { access: 'use' } }],
  [
    'not_yours',
    'only its creator may delete it',
    { facts: { access: 'use' }, rule: ruleWith({ action: 'delete-snapshot' }) },
  ],
  ['nothing_to_do', 'it has no snapshot that may be deleted', { rule: ruleWith({ action: 'delete-snapshot' }) }],
])('%s: %s', (reason, why, given) => {
  expect(entryFor(given)).toMatchObject({ reason, why, action: null });
});

describe('an action is planned', () => {
  test.each<[string, Given]>([
    ['for a sandbox that the account owns', {}],
    ['for a sandbox of which the service does not say who may use it', { facts: { access: null } }],
    ['for the sandbox of a closed job', { owner: { status: 'closed', workflowId } }],
    ['for a kept sandbox that a rule selects', { owner: kept, rule: ruleWith({ match: { owned: ['kept'] } }) }],
    ['to stop what a teammate runs', { facts: { state: 'ready', access: 'use' }, rule: stops }],
    ['for a failed sandbox', { facts: { state: 'error' } }],
  ])('%s', (_, given) => {
    const wanted = (given.rule ?? ruleWith()).action;
    expect(entryFor(given)).toMatchObject({ reason: null, why: null, action: wanted, rule: 'old', wanted });
  });

  test('for all but the newest of a group', () => {
    const candidates = [1, 2, 3].map((days) => candidateWith({ id: `bx_${days}`, createdAt: daysAgo(days) }));
    const plan = planWith({ policy: policyWith({ rules: [ruleWith({ keepLast: 2 })] }), candidates });
    expect(plan.actions).toMatchObject([{ facts: { id: 'bx_3' }, keeps: ['bx_1', 'bx_2'] }]);
  });
});
