/** Prints the result of the whole run as its last line: `N passed, N failed`; before it `N skipped`, if there are any. */
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    let passed = 0;
    let failed = errors.length;
    let skipped = 0;
    for (const module of modules) {
      // A file that cannot be loaded or a failing hook has its own errors, and may have no failed test.
      failed += module.errors().length;
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed += 1;
        else if (state === 'skipped') skipped += 1;
        else failed += 1;
      }
    }
    if (failed === 0 && reason !== 'passed') failed = 1;
    if (failed > 0) process.exitCode ||= 1;
    const line = `${skipped > 0 ? `${skipped} skipped\n` : ''}${passed} passed, ${failed} failed\n`;
    // Other reporters print their summary in the same event, and some output is still in progress: wait for the end.
    process.once('exit', () => void process.stdout.write(line));
  }
}
