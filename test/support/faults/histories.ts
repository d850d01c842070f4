import fc from 'fast-check';

export interface Run {
  seed: number;
  /** How many histories, the corpus among them. */
  runs: number;
  /** Whether a history that breaks a rule is made shorter first. */
  shrinks?: boolean;
}

/**
 * Runs a corpus of histories that once failed, and random ones, several at a time.
 *
 * @param run throws an Error that says which rule a history breaks
 * @returns what the first one breaks, and how; null for none
 */
export async function findFault<History>(
  histories: fc.Arbitrary<History>,
  run: (history: History) => Promise<void>,
  { seed, runs, shrinks = false }: Run,
  { corpus = [], atOnce = 1 }: { corpus?: readonly History[]; atOnce?: number } = {},
): Promise<string | null> {
  const property = fc.asyncProperty(histories, run);
  const lanes = Array.from({ length: atOnce }, (_, lane) => {
    const examples = corpus.filter((_history, index) => index % atOnce === lane).map((history): [History] => [history]);
    const numRuns = Math.max(examples.length, Math.floor((runs + lane) / atOnce));
    return fc.check(property, { seed: seed * atOnce + lane, numRuns, examples, endOnFailure: !shrinks });
  });
  const failed = (await Promise.all(lanes)).find((outcome) => outcome.failed);
  return failed ? `${String(failed.errorInstance)} in ${JSON.stringify(failed.counterexample)}` : null;
}
