/** An agent without a model: it runs the shell blocks of its prompt, in order, and answers with what they print. */
import type { CommandOutcome } from '../machine/machine-host.js';
import type { Agent, AgentOutcome } from './agent.js';
import { boundedStart, MAX_EVENT_BYTES, MAX_RESULT_BYTES } from './bounded-text.js';
import { shellBlocks } from './shell-blocks.js';

/** Each block is a shell of its own in the sandbox's home. The first that fails ends the run. */
export function createScriptedAgent(): Agent {
  return {
    async run(host, { sandboxId, prompt }, { emit, signal }) {
      if (signal.aborted) return { status: 'interrupted', result: null };
      const blocks = shellBlocks(prompt);
      if (blocks.length === 0) {
        const text = answerWithoutBlocks(prompt);
        emit('agent.message', { text });
        return { status: 'completed', result: text };
      }
      let result = '';
      for (const [index, command] of blocks.entries()) {
        const outcome = await host.run(sandboxId, { command }, { signal });
        const failed = outcome.exitCode !== 0;
        const output = failed ? joinLines(outcome.stdout, outcome.stderr) : outcome.stdout;
        result = boundedStart(joinLines(result, output), MAX_RESULT_BYTES);
        emit('agent.tool', {
          command: boundedStart(command, MAX_EVENT_BYTES),
          exitCode: outcome.exitCode,
          output: boundedStart(joinLines(outcome.stdout, outcome.stderr), MAX_EVENT_BYTES),
        });
        if (output !== '') emit('agent.message', { text: boundedStart(output, MAX_EVENT_BYTES) });
        if (signal.aborted) return { status: 'interrupted', result: result || null };
        if (failed) return failure(index + 1, outcome, result);
      }
      return { status: 'completed', result };
    },
  };
}

function failure(block: number, { exitCode }: CommandOutcome, result: string): AgentOutcome {
  const error = exitCode === null ? `block ${block} was ended by a signal` : `block ${block} exited with ${exitCode}`;
  return { status: 'failed', error, result: result || null };
}

function answerWithoutBlocks(prompt: string): string {
  const firstLine = prompt.split(/\r\n|\n|\r/).find((line) => line.trim() !== '') ?? '';
  const quoted = boundedStart(firstLine.trim(), 200);
  return `This is the scripted agent of the local service. It has no model and runs only the shell blocks of a prompt (\`\`\`sh), and found none in: "${quoted}"`;
}

function joinLines(first: string, second: string): string {
  return first === '' || second === '' || first.endsWith('\n') ? first + second : `${first}\n${second}`;
}
