import { expect, it } from 'vitest';
import { brokenPrompts } from '../../world/oracle/prompts.js';
import type { WorldRecord } from '../../world/oracle/record.js';

/** A job whose result names another id than its prompt has. @param fault what struck the answer to the prompt */
function recordOf(fault: string | null, status: string): WorldRecord {
  const prompt = { prompt: 'x', promptId: '../not an id', status, result: null, resultRef: null };
  const at = { job: 'j1', endpoint: 'sendPrompt', nth: 1 };
  const told = {
    ...{ job: 'j1', workflowId: 'sf-world-j1', given: [], othersPromptIds: [] },
    jobs: [{ outcome: 'deadline_exceeded', sandboxId: 'bx_1', prompts: [prompt] }],
  };
  const record = {
    plan: { jobs: [{ kind: 'run', key: 'j1' }], troubles: fault ? [{ key: 't1', kind: 'wire', fault, at }] : [] },
    struck: new Set(['t1']),
    told: [told],
    traces: { promptIds: new Set(), forks: [], taken: new Map() },
    books: {
      sandboxes: [{ id: 'bx_1', name: 'sf-world-j1-main-1' }],
      prompts: [{ id: 'prm_1', sandboxId: 'bx_1', text: 'x', status: 'running' }],
    },
    calls: [],
  };
  return record as unknown as WorldRecord;
}

it.each([
  ['is still waited for, after an answer with such an id', 'malformed-ids', 'queued', 0],
  ['is still waited for, after an answer to another prompt', 'misrouted', 'queued', 0],
  ['has an answer', 'malformed-ids', 'completed', 1],
  ['had a right answer', null, 'queued', 1],
])('a prompt with the id of no prompt that %s', (_, fault, status, count) => {
  expect(brokenPrompts(recordOf(fault, status))).toHaveLength(count);
});

it.each([
  ['says so', { note: 'This could not be read: the history before the prompt.' }, 0],
  ['does not say so', {}, 1],
])('a completed prompt without the answer that the service has %s', (_, said, count) => {
  const record = recordOf(null, 'completed');
  const prompt = { ...record.told[0]?.jobs[0]?.prompts[0], promptId: null, ...said };
  const books = { ...record.books, prompts: [{ ...record.books.prompts[0], status: 'completed', result: 'done' }] };
  const jobs = [{ ...record.told[0]?.jobs[0], prompts: [prompt] }];
  const changed = { ...record, books, told: [{ ...record.told[0], jobs }] };
  expect(brokenPrompts(changed as unknown as WorldRecord)).toHaveLength(count);
});
