import type { Reporter, TestModule } from 'vitest/node';

/** Ends the run with the line that scripts read: `N passed, N failed`. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    // A file that does not load, or an error outside any test, is a failure although no test failed.
    const broken = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0).length;
    const skipped = count('skipped');
    const line = `${count('passed')} passed, ${count('failed') + broken + errors.length} failed`;
    process.stdout.write(`\n${line}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  }
}
