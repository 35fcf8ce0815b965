/** An agent that is a program: a configured command line, run in the sandbox, with the prompt on its standard input. */
import type { Agent } from './agent.js';
import { boundedEnd, boundedStart, createLineBatches, maxResultBytes } from './output-text.js';

/** The most events that one run emits. The last of them says that output is missing. */
const maxEvents = 2_000;
const errorTailCharacters = 4_000;

interface CommandAgentOptions {
  /**
   * Run by `/bin/sh -c`. Gets AGENT_PROVIDER, AGENT_MODEL, AGENT_REASONING_EFFORT (empty if not set) and
   * AGENT_CONVERSATION_ID. Its output is the answer; an exit code other than 0 is a failure.
   */
  readonly command: string;
}

export function createCommandAgent({ command }: CommandAgentOptions): Agent {
  return {
    // If an interrupted command ran again, it could do its work twice.
    canGoOn: false,
    // The catalog does not know the models of the operator's own program.
    takesAnyModel: true,
    async run(host, prompt, { emit, signal }) {
      if (signal.aborted) return { status: 'interrupted', result: null };
      let events = 0;
      const lines = createLineBatches((text) => {
        events += 1;
        if (events < maxEvents) emit('agent.message', { text });
        if (events === maxEvents) emit('agent.message', { text: '[the rest of the output is omitted]' });
      });
      const env = {
        ...prompt.env,
        AGENT_PROVIDER: prompt.provider,
        AGENT_MODEL: prompt.model ?? '',
        AGENT_REASONING_EFFORT: prompt.reasoningEffort ?? '',
        AGENT_CONVERSATION_ID: prompt.conversationId,
      };
      const spec = { command, env, stdin: prompt.prompt };
      const outcome = await host.run(prompt.sandboxId, spec, { signal, onStdout: lines.push });
      lines.end();
      const result = boundedStart(outcome.stdout, maxResultBytes);
      if (signal.aborted) return { status: 'interrupted', result: result || null };
      if (outcome.exitCode === 0) return { status: 'completed', result };
      const ending = outcome.exitCode === null ? 'was killed by a signal' : `exited with ${outcome.exitCode}`;
      const tail = boundedEnd(outcome.stderr.trim(), errorTailCharacters);
      return { status: 'failed', error: `the agent ${ending}${tail ? `: ${tail}` : ''}`, result: result || null };
    },
  };
}
