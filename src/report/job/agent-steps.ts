/** What the agent said and ran for a prompt. Folded, because it may be long. */
import { lastDrawn } from '../../texts/terminal-text.js';
import { countOf, countText } from '../format.js';
import { html, type Markup } from '../markup.js';
import type { AgentStep, JobReportData } from './job-data.js';
import { textBlock } from './text-block.js';

/** A page with more elements opens slowly. */
const stepsShown = 500;

type Steps = Pick<JobReportData, 'steps' | 'prompts'>;

/**
 * The steps for the prompt with this number or, for null, those of no known prompt. A message that is the answer is left
 * out, because the answer is shown.
 */
export function stepsOf({ steps, prompts }: Steps, prompt: number | null): readonly AgentStep[] {
  const isKnown = (step: AgentStep) => step.prompt !== null && prompts[step.prompt - 1] !== undefined;
  return steps.filter((step) => {
    if (prompt === null) return !isKnown(step);
    if (step.prompt !== prompt) return false;
    return step.kind !== 'message' || step.text.trim() !== prompts[prompt - 1]?.result?.trim();
  });
}

/** The texts of all steps, as they are shown. */
export function stepTexts({ steps }: Pick<JobReportData, 'steps'>): string[] {
  return steps.map(textOf);
}

/** @returns null if there are no steps */
export function stepsMarkup(
  steps: readonly AgentStep[],
  { jobId, limit }: { readonly jobId: string; readonly limit: number },
): Markup | null {
  if (steps.length === 0) return null;
  const number = (kind: AgentStep['kind']) => steps.filter((step) => step.kind === kind).length;
  const [commands, tools, messages] = [number('command'), number('tool'), number('message')];
  const counts = [
    ...(commands > 0 ? [countOf(commands, 'command', 'commands')] : []),
    ...(tools > 0 ? [countOf(tools, 'tool call', 'tool calls')] : []),
    ...(messages > 0 ? [countOf(messages, 'message', 'messages')] : []),
    ...steps.flatMap((step) => (step.kind === 'usage' ? [step.text] : [])),
  ].join(', ');
  const shown = steps.filter(({ kind }) => kind !== 'usage');
  const more = shown.length - stepsShown;
  const rest =
    more > 0
      ? html`<p class="note cut">… ${countText(more)} more are not in this report. All of them: <code>sandflow jobs logs ${jobId}</code></p>`
      : null;
  return html`<details class="steps"><summary>What the agent did <span class="note">${counts}</span></summary>
${shown.slice(0, stepsShown).map((step) => stepMarkup(step, limit))}${rest}</details>`;
}

function stepMarkup(step: AgentStep, limit: number): Markup {
  const isRun = step.kind === 'command' || step.kind === 'tool';
  const isBad = step.kind === 'command' && step.exitCode !== null && step.exitCode !== 0;
  return html`${textBlock(textOf(step), limit, { name: isRun ? 'command' : 'quiet' })}${isBad ? html`<p class="note">exit code ${step.exitCode}</p>` : null}`;
}

function textOf(step: AgentStep): string {
  if (step.kind === 'message' || step.kind === 'usage') return lastDrawn(step.text);
  if (step.kind === 'tool') {
    const output = step.failed ? `\n${step.output.trimEnd()}` : '';
    return lastDrawn(`[${step.tool}] ${step.detail}${step.failed ? ' (failed)' : ''}${output}`);
  }
  const output = lastDrawn(step.output).trimEnd();
  return `$ ${step.command.trimEnd()}${output === '' ? '' : `\n${output}`}`;
}
