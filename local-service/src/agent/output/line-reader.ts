/** Reads the output of a program that prints its events as JSON, one per line. */
import { parseJson, withoutMark } from '../../../../src/texts/parse-json.js';
import type { AgentEvent } from '../agent.js';
import { messageEvents } from './tool-event.js';

/**
 * What one line says. A later `result`, `failure` or `usage` replaces an earlier one, and a result also a failure before
 * it: a program may report a lost connection and go on.
 */
export interface Heard {
  readonly events?: readonly AgentEvent[];
  /** The answer, if the program ends with this. */
  readonly result?: string;
  /** Why the program fails, whatever its exit code is. */
  readonly failure?: string | undefined;
  readonly usage?: TokenUsage;
}

/** The data of `agent.usage`. */
export type TokenUsage = Readonly<{
  /** What the numbers cover: this prompt, or the whole conversation up to its end. */
  of: 'prompt' | 'conversation';
  /** All tokens that the model read, with those from its cache. */
  inputTokens: number;
  cachedInputTokens: number;
  /** All tokens that the model wrote, with its reasoning. */
  outputTokens: number;
}>;

/** Reads the lines of one run, in order. A line that it does not know says nothing. */
export type HearLine = (line: unknown) => Heard;

/** Longer lines say nothing. They hold pictures or whole files. */
const maxLineCharacters = 4 * 1024 * 1024;

/** Takes the output of one run in pieces. A line that is no JSON is a message, such as one of the agent's script. */
export function createLineReader(hear: HearLine, emit: (event: AgentEvent) => void) {
  let rest = '';
  let isTooLong = false;
  let said: Omit<Heard, 'events'> = {};
  const take = (raw: string): void => {
    const line = withoutMark(raw);
    if (line.trim() === '') return;
    const json = parseJson(line);
    const isJson = typeof json === 'object' && json !== null;
    const { events = [], ...more } = isJson ? heardIn(json, hear) : { events: messageEvents(line) };
    if (more.result !== undefined) said = { ...said, failure: undefined };
    said = { ...said, ...more };
    for (const event of events) emit(event);
  };
  const takeLines = (text: string): void => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!isTooLong && line.length <= maxLineCharacters) take(line);
      isTooLong = false;
    }
  };
  return {
    push(text: string) {
      if (!text.includes('\n')) rest += isTooLong ? '' : text;
      else takeLines(text);
      if (rest.length > maxLineCharacters) isTooLong = true;
      if (isTooLong) rest = '';
    },
    /** Takes the last line, which may have no end. */
    end(): Omit<Heard, 'events'> {
      if (!isTooLong) take(rest);
      rest = '';
      return said;
    },
  };
}

/** A line that cannot be read, such as one that is nested too deeply for the stack, must not end the service. */
function heardIn(json: unknown, hear: HearLine): Heard {
  try {
    return hear(json);
  } catch {
    return {};
  }
}
