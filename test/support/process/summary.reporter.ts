import type { Reporter, TestModule } from 'vitest/node';

/** Prints `N passed, N failed` as the last line, for scripts to read, after the tests that passed only when run again. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    // Files that do not load and errors outside tests also count as failures.
    const broken = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0).length;
    const flaky = tests.filter((test) => test.diagnostic()?.flaky);
    for (const test of flaky) {
      const faults = test.result().errors?.map((error) => error.message.split('\n', 1)[0]) ?? [];
      process.stdout.write(`Passed only when run again: ${test.module.relativeModuleId} > ${test.fullName}: ${faults.join('; ')}\n`);
    }
    const skipped = count('skipped');
    const line = `${count('passed')} passed, ${count('failed') + broken + errors.length} failed`;
    process.stdout.write(`\n${line}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  }
}
