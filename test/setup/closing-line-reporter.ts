/**
 * Prints the result of the whole run as its last line: `N passed, N failed`; before it the seed of property tests, what the
 * run has cost, `N skipped`, if there are any, and each test that passed only at a second attempt, with the error of the
 * first.
 */
import { readFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, TestRunEndReason, Vitest } from 'vitest/node';

export default class ClosingLineReporter implements Reporter {
  private seed: number | undefined;

  onInit(vitest: Vitest): void {
    this.seed = vitest.projects[0]?.getProvidedContext().propertySeed;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    let passed = 0;
    let failed = errors.length;
    let skipped = 0;
    let retried = '';
    for (const module of modules) {
      // A file that cannot be loaded or a failing hook has its own errors, and may have no failed test.
      failed += module.errors().length;
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (test.diagnostic()?.flaky) retried += describeRetry(test);
        if (state === 'passed') passed += 1;
        else if (state === 'skipped') skipped += 1;
        else failed += 1;
      }
    }
    if (failed === 0 && reason !== 'passed') failed = 1;
    if (failed > 0) process.exitCode ||= 1;
    const seed = this.seed === undefined ? '' : `property tests drew with TEST_SEED=${this.seed}\n`;
    const counts = `${skipped > 0 ? `${skipped} skipped\n` : ''}${passed} passed, ${failed} failed\n`;
    // Other reporters print their summary in the same event, and some output is still in progress: wait for the end.
    process.once('exit', () => void process.stdout.write(`${retried}${seed}${cost()}${counts}`));
  }
}

/** The ticks of the process times of Linux, in a second, on every architecture. */
const ticksPerSecond = 100;

/** User and system time of this process and of all that ended below it, as Linux books it, and the time of the clock. */
function cost(): string {
  const wall = `${Math.round(process.uptime())} s of time\n`;
  try {
    const times = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ').slice(11, 15) ?? [];
    const ticks = times.reduce((sum, time) => sum + Number(time), 0);
    return `${Math.round(ticks / ticksPerSecond)} s of CPU, ${wall}`;
  } catch {
    return wall;
  }
}

function describeRetry(test: TestCase): string {
  const { errors = [] } = test.result();
  const message = errors[0]?.message.split('\n', 1)[0] ?? 'no error was recorded';
  return `passed at a second attempt: ${test.module.relativeModuleId} > ${test.fullName}\n  ${message}\n`;
}
