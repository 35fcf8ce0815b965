/** The events of tools, as far as the programs of agents tell of them. */
import type { AgentEvent } from '../agent.js';
import { boundedStart, maxEventBytes } from './output-text.js';

const maxLabelCharacters = 200;
/** The fields of a tool's input that say what it works on; the first of them that is there is shown. */
const tellingFields = ['file_path', 'filePath', 'path', 'notebook_path', 'pattern', 'url', 'query', 'description'];

/** A command in a shell. @param options.exitCode null if it is unknown */
export function commandEvent(
  command: string,
  { tool, exitCode, output }: { readonly tool: string; readonly exitCode: number | null; readonly output: string },
): AgentEvent {
  const bounded = { command: boundedStart(command, maxEventBytes), output: boundedStart(output, maxEventBytes) };
  return { type: 'agent.tool', data: { tool, ...bounded, exitCode } };
}

/** Any other tool. @param options.detail what it worked on */
export function toolEvent(
  tool: string,
  { detail, failed, output }: { readonly detail: string; readonly failed: boolean; readonly output: string },
): AgentEvent {
  const label = { tool: boundedLine(tool), detail: boundedLine(detail) };
  return { type: 'agent.tool', data: { ...label, failed, output: boundedStart(output, maxEventBytes) } };
}

export function messageEvents(text: string | undefined): AgentEvent[] {
  if (text === undefined || text.trim() === '') return [];
  return [{ type: 'agent.message', data: { text: boundedStart(text, maxEventBytes) } }];
}

/** One line that says what a tool worked on. */
export function detailOf(input: Readonly<Record<string, unknown>>): string {
  const telling = tellingFields.map((field) => input[field]).find((value) => typeof value === 'string');
  const text = typeof telling === 'string' ? telling : JSON.stringify(input);
  return boundedLine(text);
}

/** The beginning of `text` as one line. */
export function boundedLine(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  if (line.length <= maxLabelCharacters) return line;
  return `${line.slice(0, maxLabelCharacters).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
