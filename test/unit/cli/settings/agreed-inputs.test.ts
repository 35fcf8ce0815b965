import { createHash } from 'node:crypto';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { Parent } from '../../../../src/cli/command.js';
import { policyOf } from '../../../../src/cli/fanout/batch-input.js';
import { sourceOf } from '../../../../src/cli/fanout/fanout-source.js';
import { declareFanout, type FanoutOptions } from '../../../../src/cli/fanout/options.js';
import { jobInputOf } from '../../../../src/cli/run/job-input.js';
import { declareRun, type RunOptions } from '../../../../src/cli/run/options.js';
import { checkedFanoutInput } from '../../../../src/cli/settings/checked-input.js';
import { defaultPolicy } from '../../../../src/workflow-client/fanouts/fanout-input.js';
import agreed from './agreed-inputs.json' with { type: 'json' };

const setUp = { scripts: {}, put: [] };

const inputs = {
  run: (options: RunOptions) =>
    jobInputOf(options, { ...setUp, deployment: 'd', jobId: 'j', prompts: ['a', 'b'], collect: ['x'] }),
  fanout: (options: FanoutOptions) =>
    checkedFanoutInput({
      deployment: 'd',
      batchId: 'b',
      source: sourceOf(options, { ...setUp, prompts: ['p'] }),
      policy: { ...defaultPolicy, ...policyOf('fanout', options) },
      ...(options.title !== undefined && { title: options.title }),
    }),
} as const;

/** The options of a command line, as the parser gives them to the action. */
function parsed<Options>(command: keyof typeof inputs, line: string): Options {
  const program = new Command('sandflow');
  let options: unknown;
  const declared = command === 'run' ? declareRun : declareFanout;
  declared(program as unknown as Parent).action((_: unknown, given: unknown) => {
    options = given;
  });
  program.parse([command, ...line.split(' ')], { from: 'user' });
  return options as Options;
}

/** Jobs and batches that were started before have these digests: the same command line must attach to them. */
describe('the input that a command line describes is the same, byte for byte, as it always was', () => {
  it.each([
    ['run', agreed.run],
    ['fanout', agreed.fanout],
  ] as const)('of %s', (command, lines) => {
    const digestOf = (line: string) => {
      try {
        const input = inputs[command](parsed(command, line));
        return createHash('sha256').update(JSON.stringify(input)).digest('hex').slice(0, 16);
      } catch {
        return 'refused';
      }
    };
    expect(Object.fromEntries(Object.keys(lines).map((line) => [line, digestOf(line)]))).toEqual(lines);
  });
});
