/** An agent without a model: it runs the shell blocks of its prompt, in order, and answers with their output. */
import type { Agent, AgentEvent, AgentOutcome } from './agent.js';
import { boundedStart, maxEventBytes, maxResultBytes } from './output/output-text.js';
import { shellBlocks } from './shell-blocks.js';
import { createToldOutput } from './told-output.js';

/**
 * Each block runs in a shell of its own in the sandbox's home. The first block that fails ends the run. After a restart
 * of the service, the agent runs the interrupted block again from its beginning, and then the blocks after it.
 *
 * While a block runs, messages tell the lines that it prints. When it has ended, `agent.tool` and a last message hold
 * what was not told. Each message has the number of its `block`, and `from`, where its text begins in the output of the
 * block: an output that changed after a restart replaces from there on what was told before.
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
      let result = '';
      for (const [index, command] of blocks.entries()) {
        const block = index + 1;
        const before = ran[index]?.data.exitCode;
        const saidBefore = saidIn(earlier, block);
        if (typeof before === 'number') {
          result = joinLines(result, saidBefore);
          if (before === 0) continue;
          return failure(block, before, result);
        }
        const say = (text: string, from: number): void => emit('agent.message', { text, part: true, block, from });
        const told = createToldOutput(saidBefore, say);
        const running = host.run(sandboxId, { command, env }, { signal, onStdout: told.push });
        const outcome = await running.finally(told.stop);
        const failed = outcome.exitCode !== 0;
        const all = joinLines(outcome.stdout, outcome.stderr);
        const output = failed ? all : outcome.stdout;
        const from = told.endIn(output);
        result = boundedStart(joinLines(result, output), maxResultBytes);
        emit('agent.tool', {
          command: boundedStart(command, maxEventBytes),
          exitCode: outcome.exitCode,
          output: boundedStart(all.slice(from), maxEventBytes),
        });
        if (from < output.length) say(boundedStart(output.slice(from), maxEventBytes), from);
        if (signal.aborted) return { status: 'interrupted', result: result || null };
        if (failed) return failure(block, outcome.exitCode, result);
      }
      return { status: 'completed', result };
    },
  };
}

/** The output of a block, as far as an earlier run told it. */
function saidIn(earlier: readonly AgentEvent[], block: number): string {
  return earlier.reduce((said, { type, data: { block: of, text, from } }) => {
    const isPart = type === 'agent.message' && of === block && typeof text === 'string' && typeof from === 'number';
    return isPart ? said.slice(0, from) + text : said;
  }, '');
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
