import { describe, expect, it } from 'vitest';
import { parseLabelPairs } from '../../../src/cli/labels.js';
import { UsageError } from '../../../src/cli/usage-error.js';
import { parseLabels } from '../../../src/workflow-client/labels.js';

describe('labels', () => {
  it('are read from name=value, and the value may hold another =', () => {
    expect(parseLabelPairs(['team=search', 'query=a=b', 'empty='])).toEqual({
      team: 'search',
      query: 'a=b',
      empty: '',
    });
  });

  it.each(['team', '=search', ''])('are refused if "%s" is not name=value', (pair) => {
    expect(() => parseLabelPairs([pair])).toThrow(UsageError);
  });

  it('are refused if a name occurs twice: only one of its values could be kept', () => {
    expect(() => parseLabelPairs(['team=search', 'team=ads'])).toThrow('--label: team occurs twice');
    expect(Object.entries(parseLabelPairs(['constructor=b', '😀=‮c']))).toEqual([
      ['constructor', 'b'],
      ['😀', '‮c'],
    ]);
  });

  const refuse = (why: string) => new Error(why);

  it('are bounded, because they are in the memo of the workflow', () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`l${at}`, 'x']));
    expect(() => parseLabels(many, refuse)).toThrow('labels: must have at most 20 entries');
    expect(() => parseLabels({ long: 'x'.repeat(201) }, refuse)).toThrow('labels.long');
    expect(parseLabels({}, refuse)).toBeUndefined();
    expect(() => parseLabelPairs([`team=${'x'.repeat(201)}`])).toThrow('--label: team: must have at most 200');
    const odd = parseLabelPairs(['constructor=b', '😀=', 'א\u202e=x']);
    expect(parseLabels(odd, refuse)).toEqual(odd);
    expect(parseLabels({ team: 'search' }, refuse)).toEqual({ team: 'search' });
  });
});
