/** Single jobs: `createThenPrompt` with its options. */
import { script } from '../../../workflows/workflow-harness.js';
import { noPromptIds } from '../faults/lens.js';
import { inState, made, type World } from '../world.js';
import { cancelledMidway, type JobScenario, toScenario } from './job-scenario.js';
import type { Scenario } from './scenario.js';

const echo = (id: string, at = 0) => ({ prompt: script(`echo ${id} ${at}`) });
const long = (id: string) => [{ prompt: script(`echo ${id}; sleep 40`) }];
const create = { source: { kind: 'create' as const, body: {} } };
const archived = async ({ stand }: World) => {
  const sandboxId = await made(stand, 'given');
  await stand.api.stopSandbox(sandboxId);
  await inState(stand, sandboxId, 'archived');
  return { sandboxId };
};
/** Somebody else works there. */
const shared = async ({ stand }: World) => {
  const sandboxId = await made(stand, 'given');
  const { promptId } = await stand.api.sendPrompt(sandboxId, { prompt: script('sleep 20; echo theirs'), new: true });
  return { sandboxId, othersPromptIds: promptId == null ? [] : [promptId] };
};

/** Scenarios that depend on prompt ids. */
const withoutIds = ['sendPrompt/sendPrompt#1', 'sendPrompt/listEvents#1', 'followPrompt/listEvents#1'];

const scenarios: readonly JobScenario[] = [
  {
    name: 'full',
    input: (_, id) => ({
      source: { kind: 'create', body: { setupScript: 'true' } },
      put: [{ path: 'in.txt', content: { base64: Buffer.from(id).toString('base64') } }],
      commands: ['cat in.txt'],
      prompts: [{ prompt: script('cat in.txt > out.txt; cat out.txt') }],
      collect: ['out.txt'],
      end: 'stop',
    }),
  },
  {
    name: 'two-prompts-delete',
    input: (_, id) => ({ ...create, prompts: [echo(id), echo(id, 1)], waitFor: 'hydrated', end: 'delete' }),
  },
  {
    name: 'side-by-side-keep',
    keeps: true,
    input: (_, id) => ({ ...create, prompts: [echo(id), echo(id, 1)], conversations: 'each', end: 'keep' }),
  },
  {
    name: 'fork',
    forks: true,
    input: ({ sourceId }, id) => ({
      source: { kind: 'fork', sandboxId: sourceId },
      waitFor: 'hydrated',
      prompts: [echo(id)],
      end: 'stop',
    }),
  },
  {
    name: 'resume',
    makes: 0,
    given: archived,
    input: (_, id, given = '') => ({
      source: { kind: 'existing', sandboxId: given },
      waitFor: 'hydrated',
      prompts: [echo(id)],
      end: 'stop',
    }),
  },
  {
    name: 'existing-keep',
    makes: 0,
    keeps: true,
    given: shared,
    input: (_, id, given = '') => ({
      source: { kind: 'existing', sandboxId: given },
      prompts: [echo(id), echo(id, 1)],
      end: 'keep',
    }),
  },
  {
    name: 'cancelled',
    expected: 'cancelled',
    input: (_, id) => ({ ...create, prompts: long(id), collect: ['out.txt'], end: 'delete' }),
    during: cancelledMidway,
  },
  {
    name: 'overdue',
    expected: 'deadline_exceeded',
    deadlineMs: 4_000,
    input: (_, id) => ({ ...create, prompts: long(id), collect: ['out.txt'], end: 'stop' }),
  },
  {
    name: 'existing-cancelled',
    makes: 0,
    keeps: true,
    expected: 'cancelled',
    given: shared,
    input: (_, id, given = '') => ({
      source: { kind: 'existing', sandboxId: given },
      prompts: long(id),
      end: 'keep',
    }),
    during: cancelledMidway,
  },
  {
    name: 'renewing',
    input: (_, id) => ({
      ...create,
      prompts: [{ prompt: script(`echo ${id}; sleep 5`) }],
      ttlSeconds: 6,
      end: 'stop',
    }),
  },
  {
    name: 'waits-for-evidence',
    input: (_, id) => ({ ...create, prompts: [echo(id)], onUnknownOutcome: 'wait', end: 'stop' }),
    always: {
      'sendAndFollowPrompt/sendPrompt#1': 'dropped-after',
      ...Object.fromEntries([1, 2, 3, 4].map((nth) => [`sendAndFollowPrompt/listEvents#${nth}`, 'page-502'])),
    },
  },
  {
    name: 'patch',
    input: (_, id) => ({
      ...create,
      commands: ['git init -q app'],
      prompts: [{ prompt: script(`echo ${id} > app/new.txt`) }],
      collectDiff: 'app',
      end: 'stop',
    }),
  },
  {
    name: 'foreign-create',
    always: { 'createSandbox/createSandbox#1': 'foreign-ids' },
    input: (_, id) => ({ ...create, prompts: [echo(id)], end: 'stop' }),
  },
  {
    name: 'reset',
    isReset: true,
    // The next run cannot know whether the first one has sent the prompt, and sends none.
    expected: 'outcome_unknown',
    // The first run learns of no sandbox, so that it does nothing with it, and calls nothing else.
    always: { 'createSandbox/createSandbox#1': 'unanswered-after' },
    input: (_, id) => ({ ...create, prompts: [echo(id)], end: 'stop' }),
  },
  {
    name: 'lost-prompt',
    always: { 'sendAndFollowPrompt/sendPrompt#1': 'dropped-after' },
    input: (_, id) => ({ ...create, prompts: [echo(id)], end: 'stop' }),
  },
  {
    name: 'lost-prompt-to-provider',
    always: { 'sendAndFollowPrompt/sendPrompt#1': 'dropped-after' },
    input: (_, id) => ({ ...create, prompts: [{ ...echo(id), provider: 'codex' }], end: 'stop' }),
  },
  {
    name: 'lost-command',
    always: { 'runMarkedCommand/runCommand#1': 'dropped-after' },
    input: (_, id) => ({ ...create, commands: [`echo ${id}`], prompts: [], end: 'stop' }),
  },
  {
    name: 'no-ids',
    lens: noPromptIds,
    rowsAt: ['sendPrompt#1', 'sendPrompt#2', 'listEvents#1', 'listEvents#2', 'listEvents#3'].map(
      (call) => `sendAndFollowPrompt/${call}`,
    ),
    input: (_, id) => ({ ...create, prompts: [echo(id), echo(id, 1)], end: 'stop' }),
  },
  {
    name: 'no-ids-shared',
    makes: 0,
    keeps: true,
    lens: noPromptIds,
    rowsAt: withoutIds,
    given: shared,
    input: (_, id, given = '') => ({
      source: { kind: 'existing', sandboxId: given },
      prompts: [echo(id), echo(id, 1)],
      conversations: 'each',
      end: 'keep',
    }),
  },
  {
    name: 'no-ids-cancelled',
    makes: 0,
    keeps: true,
    expected: 'cancelled',
    lens: noPromptIds,
    rowsAt: ['interruptSandbox/interruptSandbox#1', 'followPrompt/listEvents#1', 'followPrompt/listEvents#2'],
    given: shared,
    input: (_, id, given = '') => ({
      source: { kind: 'existing', sandboxId: given },
      prompts: long(id),
      end: 'keep',
    }),
    during: cancelledMidway,
  },
  {
    name: 'no-ids-lost-prompt',
    lens: noPromptIds,
    always: { 'sendAndFollowPrompt/sendPrompt#1': 'dropped-after' },
    rowsAt: [1, 2, 3].map((nth) => `sendAndFollowPrompt/listEvents#${nth}`),
    input: (_, id) => ({ ...create, prompts: [echo(id)], end: 'stop' }),
  },
  {
    name: 'lost-stop',
    always: { 'stopSandbox/stopSandbox#1': 'dropped-before' },
    input: (_, id) => ({ ...create, prompts: [echo(id)], end: 'stop' }),
  },
  {
    name: 'lost-resume',
    makes: 0,
    given: archived,
    always: { 'resumeSandbox/resumeSandbox#1': 'dropped-after' },
    input: (_, id, given = '') => ({
      source: { kind: 'existing', sandboxId: given },
      prompts: [echo(id)],
      end: 'stop',
    }),
  },
  {
    name: 'lost-delete',
    always: { 'deleteSandbox/deleteSandbox#1': 'dropped-before' },
    input: (_, id) => ({ ...create, prompts: [echo(id)], end: 'delete' }),
  },
];

export const jobScenarios: readonly Scenario[] = scenarios.map(toScenario);
