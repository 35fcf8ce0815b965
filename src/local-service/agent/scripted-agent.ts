/** An agent without a model: it runs the shell blocks of its prompt, in order, and answers with their output. */
import type { Agent, AgentEvent, AgentOutcome } from './agent.js';
import { boundedStart, maxEventBytes, maxResultBytes } from './output/output-text.js';
import { shellBlocks } from './shell-blocks.js';

/**
 * Each block runs in a shell of its own in the sandbox's home. The first block that fails ends the run. After a restart
 * of the service, the agent runs the interrupted block again from its beginning, and then the blocks after it.
 */
export function createScriptedAgent(): Agent {
  return {
    canGoOn: true,
    takesAnyModel: false,
    async run(host, { sandboxId, prompt, env }, { earlier, emit, signal }) {
      if (signal.aborted) return { status: 'interrupted', result: null };
      const blocks = shellBlocks(prompt);
      if (blocks.length === 0) {
        const text = answerWithoutBlocks(prompt);
        emit('agent.message', { text });
        return { status: 'completed', result: text };
      }
      const ran = earlier.filter(({ type }) => type === 'agent.tool');
      let result = earlier.flatMap(saidIn).reduce(joinLines, '');
      for (const [index, command] of blocks.entries()) {
        const before = ran[index]?.data.exitCode;
        if (before === 0) continue;
        if (typeof before === 'number') return failure(index + 1, before, result);
        const outcome = await host.run(sandboxId, { command, env }, { signal });
        const failed = outcome.exitCode !== 0;
        const output = failed ? joinLines(outcome.stdout, outcome.stderr) : outcome.stdout;
        result = boundedStart(joinLines(result, output), maxResultBytes);
        emit('agent.tool', {
          command: boundedStart(command, maxEventBytes),
          exitCode: outcome.exitCode,
          output: boundedStart(joinLines(outcome.stdout, outcome.stderr), maxEventBytes),
        });
        if (output !== '') emit('agent.message', { text: boundedStart(output, maxEventBytes) });
        if (signal.aborted) return { status: 'interrupted', result: result || null };
        if (failed) return failure(index + 1, outcome.exitCode, result);
      }
      return { status: 'completed', result };
    },
  };
}

function saidIn({ type, data }: AgentEvent): string[] {
  return type === 'agent.message' && typeof data.text === 'string' ? [data.text] : [];
}

function failure(block: number, exitCode: number | null, result: string): AgentOutcome {
  const error = exitCode === null ? `block ${block} was killed by a signal` : `block ${block} exited with ${exitCode}`;
  return { status: 'failed', error, result: result || null };
}

function answerWithoutBlocks(prompt: string): string {
  const firstLine = prompt.split(/\r\n|\n|\r/).find((line) => line.trim() !== '') ?? '';
  const quoted = boundedStart(firstLine.trim(), 200);
  return `This is the scripted agent of the local service. It has no model and runs only the shell blocks (\`\`\`sh) of a prompt. This prompt has no shell block: "${quoted}"`;
}

function joinLines(first: string, second: string): string {
  return first === '' || second === '' || first.endsWith('\n') ? first + second : `${first}\n${second}`;
}
