import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { Reached } from './promise.js';
import { PROMISES, type Promised } from './promises.js';

/** Prints the table of promises: each row's promise, results, seed and duration. */
export default class PromisesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = PROMISES.map((promise) => line(promise, modules));
    process.stdout.write(
      ['', '| row | promised | reached | seed | seconds |', '|---|---|---|---|---|', ...lines, ''].join('\n'),
    );
  }
}

function line({ row, promised, specs }: Promised, modules: readonly TestModule[]): string {
  const tests = modules
    .filter(({ moduleId }) => specs.some((spec) => moduleId.endsWith(`/test/${spec}.spec.ts`)))
    .flatMap((module) => [...module.children.allTests()]);
  const measuring = tests.filter((test) => said(test, row).length > 0);
  const failed = tests.filter((test) => test.result().state === 'failed');
  const figures = measuring.flatMap((test) => said(test, row));
  const reached = [
    ...(failed.length > 0 ? [`**${failed.length} of ${tests.length} tests failed**`] : []),
    ...figures.map(({ figures }) => figures),
  ];
  if (reached.length === 0) reached.push(tests.length > 0 ? `${tests.length} tests passed` : 'not run');
  const seeds = [...new Set(figures.flatMap(({ seed }) => seed ?? []))];
  const measured = measuring.length > 0 ? measuring : tests;
  const seconds = measured.reduce((sum, test) => sum + (test.diagnostic()?.duration ?? 0), 0) / 1_000;
  return `| ${[row, promised, reached.join('; '), seeds.join(', ') || '-', seconds.toFixed(0)].join(' | ')} |`;
}

function said(test: TestCase, row: number): Reached[] {
  return ((test.meta() as { reached?: Reached[] }).reached ?? []).filter((reached) => reached.row === row);
}
