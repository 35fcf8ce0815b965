import { expect, it } from 'vitest';
import { taskPriority } from '../../../src/protocol/job/task-priority.js';

it.each([
  ['a plain job starts as before', {}, undefined, undefined],
  ['a job has its priority', { priority: 1 }, undefined, { priorityKey: 1 }],
  ['a job has its key', { fairnessKey: 'team' }, undefined, { fairnessKey: 'team' }],
  ['a batch is one key', { priority: 5 }, 'nightly', { priorityKey: 5, fairnessKey: 'nightly' }],
  ['a batch has the key that is given', { fairnessKey: 'team' }, 'nightly', { fairnessKey: 'team' }],
])('%s', (_, given, ownKey, priority) => expect(taskPriority(given, ownKey)).toEqual(priority));
