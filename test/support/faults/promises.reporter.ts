import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import type { Reached } from './promise.js';
import { PROMISES, type Promised } from './promises.js';

/** Where the latest results of each spec are kept, so that a report can be run in parts. */
const RESULTS = 'reports/promises.json';

/** The latest results of a spec, and the commit they are from. */
interface SpecResults {
  commit: string;
  tests: { failed: boolean; seconds: number; reached: Reached[] }[];
}

/** Prints the table of promises: each row's promise, results, seed, duration and commit. */
export default class PromisesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const results = { ...earlierResults(), ...resultsOf(modules) };
    mkdirSync(dirname(RESULTS), { recursive: true });
    writeFileSync(RESULTS, JSON.stringify(results, null, 2));
    const lines = PROMISES.map((promise) => line(promise, results));
    process.stdout.write(['', '| row | promised | reached | seed | seconds | commit |', '|---|---|---|---|---|---|', ...lines, ''].join('\n'));
  }
}

function earlierResults(): Record<string, SpecResults> {
  try {
    return JSON.parse(readFileSync(RESULTS, 'utf8')) as Record<string, SpecResults>;
  } catch {
    return {};
  }
}

function resultsOf(modules: readonly TestModule[]): Record<string, SpecResults> {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  const results: Record<string, SpecResults> = {};
  for (const module of modules) {
    const spec = /\/test\/(.+)\.spec\.ts$/.exec(module.moduleId)![1]!;
    const tests = [...module.children.allTests()].map((test) => ({
      failed: test.result().state === 'failed',
      seconds: (test.diagnostic()?.duration ?? 0) / 1_000,
      reached: (test.meta() as { reached?: Reached[] }).reached ?? [],
    }));
    results[spec] = { commit, tests };
  }
  return results;
}

function line({ row, promised, specs }: Promised, results: Record<string, SpecResults>): string {
  const found = specs.flatMap((spec) => results[spec] ?? []);
  const tests = found.flatMap(({ tests }) => tests);
  const figuresOf = ({ reached }: SpecResults['tests'][number]) => reached.filter((figures) => figures.row === row);
  const measuring = tests.filter((test) => figuresOf(test).length > 0);
  const figures = measuring.flatMap(figuresOf);
  const failed = tests.filter((test) => test.failed);
  const missing = specs.filter((spec) => !(spec in results));
  const reached = [
    ...(failed.length > 0 ? [`**${failed.length} of ${tests.length} tests failed**`] : []),
    ...figures.map(({ figures }) => figures),
    ...(figures.length + failed.length === 0 && tests.length > 0 ? [`${tests.length} tests passed`] : []),
    ...(missing.length > 0 ? [`not run: ${missing.join(', ')}`] : []),
  ];
  const seeds = [...new Set(figures.flatMap(({ seed }) => seed ?? []))];
  const seconds = (measuring.length > 0 ? measuring : tests).reduce((sum, test) => sum + test.seconds, 0);
  const commits = [...new Set(found.map(({ commit }) => commit))];
  const cells = [row, promised, reached.join('; '), seeds.join(', ') || '-', seconds.toFixed(0), commits.join(', ') || '-'];
  return `| ${cells.join(' | ')} |`;
}
