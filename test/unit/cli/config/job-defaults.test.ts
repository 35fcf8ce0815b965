import { describe, expect, it } from 'vitest';
import { jobDefaults, type Layer } from '../../../../src/cli/config/job-defaults.js';

const profile = (values: Layer['values']): Layer => ({ from: 'profile work', values });
const project = (values: Layer['values']): Layer => ({ from: 'sandflow.json', values });
const values = (...args: Parameters<typeof jobDefaults>) =>
  Object.fromEntries([...jobDefaults(...args)].map(([name, { value }]) => [name, value]));

describe('the value of an option', () => {
  it('comes from the flag, then the profile, then the project', () => {
    const layers = [profile({ model: 'p', type: 'large' }), project({ model: 'q', type: 'small', effort: 'low' })];
    expect(values('run', { model: 'flag' }, layers)).toEqual({ type: 'large', effort: 'low' });
    expect([...jobDefaults('run', {}, layers)].map(([name, { from }]) => [name, from])).toEqual([
      ['model', 'profile work'],
      ['type', 'profile work'],
      ['effort', 'sandflow.json'],
    ]);
  });

  it('has the form of a parsed option', () => {
    const layers = [project({ concurrency: 5, model: 'm', effort: ['low', 'high'], failFast: true })];
    expect(values('fanout', {}, layers)).toEqual({
      concurrency: '5',
      model: ['m'],
      effort: ['low', 'high'],
      failFast: true,
    });
    expect(values('run', {}, [project({ model: 'm' })])).toEqual({ model: 'm' });
  });

  it('never changes or deletes a sandbox that the user names', () => {
    const deletes = Object.fromEntries([['then', 'delete']]);
    const layers = [project({ ...deletes, type: 'xlarge', from: 'base', model: 'm' })];
    expect(values('run', { sandbox: 'bx_2345abcd' }, layers)).toEqual({ model: 'm' });
    expect(values('run', { fork: 'bx_2345abcd' }, layers)).toEqual({ ...deletes, type: 'xlarge', model: 'm' });
  });

  it.each([
    [{ snapshot: 'base' }, { concurrency: '2' }],
    [{ command: ['make'] }, { concurrency: '2' }],
    [{}, { source: 'bx_2345abcd', concurrency: '2' }],
  ])('of a weaker source gives way to %j', (given, result) => {
    expect(values('fanout', given, [project({ source: 'bx_2345abcd', concurrency: 2 })])).toEqual(result);
  });

  it('of a profile excludes what does not fit it in the project', () => {
    expect(values('fanout', {}, [profile({ snapshot: 'base' }), project({ source: 'bx_2345abcd' })])).toEqual({
      snapshot: 'base',
    });
    expect(values('fanout', {}, [profile({ first: 2 }), project({ failFast: true })])).toEqual({ first: '2' });
  });

  it('joins labels, and the strongest value of a label counts', () => {
    const layers = [profile({ labels: { team: 'p', who: 'me' } }), project({ labels: { team: 'q', app: 'web' } })];
    expect(values('run', { label: ['who=you'] }, layers)).toEqual({ label: ['team=p', 'app=web', 'who=you'] });
  });
});
