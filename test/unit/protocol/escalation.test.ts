import { describe, expect, it } from 'vitest';
import { escalationProblem, escalationText, parseEscalation } from '../../../src/protocol/escalation.js';
import { durationText, readDurationMs } from '../../../src/texts/duration.js';

const minute = 60_000;

describe('an escalation', () => {
  it('is read into steps in the order of their times, and written again', () => {
    const read = parseEscalation(' 6h: delete,30m:resume-and-stop , 1h30m: notify', { mayDelete: true });
    expect(read).toEqual({
      steps: [
        { afterMs: 30 * minute, action: 'resume-and-stop' },
        { afterMs: 90 * minute, action: 'notify' },
        { afterMs: 360 * minute, action: 'delete' },
      ],
      mayDelete: true,
    });
    expect(escalationText(read)).toBe('30m: resume-and-stop, 1h30m: notify, 6h: delete');
  });

  it.each([
    ['', 'step 1, "": write a time and an action, like 30m: notify'],
    ['30m notify', 'step 1, "30m notify": write a time and an action'],
    ['30m: notify, 2x: notify', 'step 2, "2x: notify": "2x" is not a duration'],
    ['30m: reboot', 'step 1, "30m: reboot": unknown action "reboot"; use resume-and-stop, notify, delete'],
    ['30m: notify: delete', 'step 1, "30m: notify: delete": write a time and an action'],
    ['0s: notify', 'step "0s: notify": it must be due after at least 1s'],
    ['3000d: notify', 'step "3000d: notify": it must be due within 732d'],
    ['30m: notify, 0.5h: resume-and-stop', 'step "30m: resume-and-stop": another step has the same time'],
    ['6h: delete', 'step "6h: delete": it deletes the sandbox and all its data; permit that with mayDelete: true'],
    [Array.from({ length: 21 }, (_, index) => `${index + 1}m: notify`).join(), 'it has 21 steps, but at most 20'],
  ])('%j is refused, and the error names the step', (text, why) => {
    expect(() => parseEscalation(text)).toThrow(why);
    expect(() => parseEscalation(text)).toThrow(expect.objectContaining({ code: 'bad_escalation' }));
  });

  it('that was not read from a text is checked, too', () => {
    const steps = [
      { afterMs: 2 * minute, action: 'notify' },
      { afterMs: minute, action: 'notify' },
    ] as const;
    expect(escalationProblem({ steps })).toContain('in the order of their times');
    expect(escalationProblem({ steps: [] })).toContain('no steps');
    expect(escalationProblem({ steps: steps.slice(1) })).toBeUndefined();
  });
});

it.each([
  ['90s', '1m30s'],
  ['36h', '1d12h'],
  ['2w', '14d'],
  ['0.5s', '1s'],
])('a duration of %s is written as %s', (text, written) => {
  expect(durationText(readDurationMs(text) ?? 0)).toBe(written);
});
