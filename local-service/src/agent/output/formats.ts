/** The ways in which a command agent may print. */
import { hearClaudeCode } from './claude-code.js';
import { hearCodex } from './codex.js';
import type { HearLine } from './line-reader.js';
import { hearOpencode } from './opencode.js';

/** `text`: everything that the program prints is its answer. The others are the JSON lines of the program of that name. */
export const agentOutputs = ['text', 'claude-code', 'codex', 'opencode'] as const;
export type AgentOutput = (typeof agentOutputs)[number];

const hearing: Readonly<Record<Exclude<AgentOutput, 'text'>, () => HearLine>> = {
  'claude-code': hearClaudeCode,
  codex: hearCodex,
  opencode: hearOpencode,
};

/** Undefined for text. */
export function hearingOf(output: AgentOutput): HearLine | undefined {
  return output === 'text' ? undefined : hearing[output]();
}
