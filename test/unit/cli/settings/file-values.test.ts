import { describe, expect, it } from 'vitest';
import { optionsOfFile } from '../../../../src/cli/settings/file-values.js';

const values = (...args: Parameters<typeof optionsOfFile>) => Object.fromEntries(optionsOfFile(...args));

describe('the value of an option', () => {
  it('comes from the flag, then the project', () => {
    expect(values('run', { model: 'flag' }, { model: 'p', type: 'small' })).toEqual({ type: 'small' });
  });

  it('has the form of a parsed option', () => {
    const ofProject = { concurrency: 5, model: 'm', effort: ['low', 'high'], failFast: true };
    expect(values('fanout', {}, ofProject)).toEqual({
      concurrency: '5',
      model: ['m'],
      effort: ['low', 'high'],
      failFast: true,
    });
    expect(values('run', {}, { model: 'm' })).toEqual({ model: 'm' });
  });

  it('never changes or deletes a sandbox that the user names', () => {
    const ofProject = { end: 'delete', type: 'xlarge', from: 'base', model: 'm' };
    expect(values('run', { sandbox: 'bx_2345abcd' }, ofProject)).toEqual({ model: 'm' });
    expect(values('run', { fork: 'bx_2345abcd' }, ofProject)).toEqual({ end: 'delete', type: 'xlarge', model: 'm' });
  });

  it.each([
    [{ snapshot: 'base' }, { concurrency: '2' }],
    [{ command: ['make'] }, { concurrency: '2' }],
    [{}, { source: 'bx_2345abcd', concurrency: '2' }],
  ])('of the project gives way to %j', (given, result) => {
    expect(values('fanout', given, { source: 'bx_2345abcd', concurrency: 2 })).toEqual(result);
  });

  it('joins labels, and a label on the command line counts', () => {
    const ofProject = { labels: { team: 'q', app: 'web' } };
    expect(values('run', { label: ['team=p'] }, ofProject)).toEqual({ label: ['app=web', 'team=p'] });
  });
});
