/** An agent that is a program: a configured command line, run in the sandbox, with the prompt on its standard input. */
import type { Agent, AgentEvent } from './agent.js';
import { type AgentOutput, hearingOf } from './output/formats.js';
import { createLineReader } from './output/line-reader.js';
import { boundedEnd, boundedStart, createLineBatches, maxResultBytes } from './output/output-text.js';

/** The most messages and tools that one run emits. The last of them says that output is missing. */
const maxEvents = 2_000;
const errorTailCharacters = 4_000;

export interface CommandAgentOptions {
  /**
   * Run by `/bin/sh -c`. Gets AGENT_PROVIDER, AGENT_MODEL, AGENT_REASONING_EFFORT (empty if not set) and
   * AGENT_CONVERSATION_ID. An exit code other than 0 is a failure.
   */
  readonly command: string;
  /** What the program prints: its answer, or JSON lines that tell what it does. Default: `text`, its answer. */
  readonly output?: AgentOutput | undefined;
  /** See `Agent.login`. */
  readonly login?: readonly string[] | undefined;
}

export function createCommandAgent({ command, output = 'text', login }: CommandAgentOptions): Agent {
  return {
    // If an interrupted command ran again, it could do its work twice.
    canGoOn: false,
    // The catalog does not know the models of the operator's own program.
    takesAnyModel: true,
    login,
    async run(host, prompt, { emit, signal }) {
      if (signal.aborted) return { status: 'interrupted', result: null };
      const listener = listenTo(output, boundedEmit(emit));
      const env = {
        ...prompt.env,
        AGENT_PROVIDER: prompt.provider,
        AGENT_MODEL: prompt.model ?? '',
        AGENT_REASONING_EFFORT: prompt.reasoningEffort ?? '',
        AGENT_CONVERSATION_ID: prompt.conversationId,
      };
      const spec = { command, env, stdin: prompt.prompt };
      const outcome = await host.run(prompt.sandboxId, spec, { signal, onStdout: listener.push });
      const { usage, failure, ...said } = listener.end();
      if (usage) emit('agent.usage', usage);
      const result = boundedStart(output === 'text' ? outcome.stdout : (said.result ?? ''), maxResultBytes);
      if (signal.aborted) return { status: 'interrupted', result: result || null };
      if (outcome.exitCode === 0 && failure === undefined) return { status: 'completed', result };
      const ending = endingOf(outcome.exitCode);
      const reason = boundedEnd((failure ?? outcome.stderr).trim(), errorTailCharacters);
      return { status: 'failed', error: `the agent ${ending}${reason ? `: ${reason}` : ''}`, result: result || null };
    },
  };
}

function endingOf(exitCode: number | null): string {
  if (exitCode === null) return 'was killed by a signal';
  return exitCode === 0 ? 'failed' : `exited with ${exitCode}`;
}

type Emit = (event: AgentEvent) => void;

function listenTo(output: AgentOutput, emit: Emit): ReturnType<typeof createLineReader> {
  const hear = hearingOf(output);
  if (hear) return createLineReader(hear, emit);
  const batches = createLineBatches((text) => emit({ type: 'agent.message', data: { text, part: true } }));
  return {
    push: batches.push,
    end() {
      batches.end();
      return {};
    },
  };
}

function boundedEmit(emit: (type: AgentEvent['type'], data: AgentEvent['data']) => void): Emit {
  let events = 0;
  return ({ type, data }) => {
    events += 1;
    if (events < maxEvents) emit(type, data);
    if (events === maxEvents) emit('agent.message', { text: '[the rest of the output is omitted]' });
  };
}
