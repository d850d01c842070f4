import fc from 'fast-check';
import pg from 'pg';
import type { TestApi } from './api.js';
import type { Factories } from './factories.js';
import { anyCommand, type Command, FEW, Identities } from './identity-model.js';

/** Sequences that once went wrong, in development or with a planted bug, shrunk. */
export const CORPUS: Command[][] = [
  // A login is made at one's own address and moved to the victim's; its maker stays tied to what the victim uses.
  [
    { do: 'provision', org: 0, kind: 'student', at: 0 },
    { do: 'change', org: 0, at: 0, to: 1 },
    { do: 'provision', org: 1, kind: 'student', at: 1 },
    { do: 'change', org: 0, at: 1, to: 0 },
    { do: 'openMail', at: 1 },
    { do: 'live', at: 1 },
  ],
  // The squatter has a password before the victim reads any mail.
  [
    { do: 'invite', org: 0, at: 1 },
    { do: 'openAnswer', org: 0, by: 0 },
    { do: 'teach', org: 0, at: 1 },
    { do: 'provision', org: 1, kind: 'student', at: 1 },
    { do: 'openMail', at: 1 },
    { do: 'live', at: 1 },
  ],
  // What another organization offers is accepted by a login that nobody has proven.
  [
    { do: 'invite', org: 0, at: 1 },
    { do: 'openAnswer', org: 0, by: 1 },
    { do: 'invite', org: 1, at: 1 },
    { do: 'openAnswer', org: 1, by: 1 },
  ],
  // A pending parent, and a reviewer.
  [
    { do: 'invite', org: 1, at: 1 },
    { do: 'openMail', at: 1 },
    { do: 'provision', org: 0, kind: 'parent', at: 1 },
    { do: 'teach', org: 0, at: 1 },
    { do: 'live', at: 1 },
  ],
  [
    { do: 'invite', org: 1, at: 1 },
    { do: 'openMail', at: 1 },
    { do: 'import', org: 0, at: 1 },
    { do: 'teach', org: 0, at: 1 },
    { do: 'archive', org: 0, at: 1 },
    { do: 'live', at: 1 },
  ],
];

/** Bugs, by what they take out of a function of the schema, and a sequence that shows each. */
export const PLANTED = {
  'a match by an address that nobody has proven': ['accept_ties', 'NOT trusted AND', 'false AND'],
  'a takeover that leaves what was accepted before': ['take_login', 'FOUND OR same_person', 'FOUND OR true'],
  'an address that moves although others are tied': ['tied_elsewhere', 'SELECT EXISTS', 'SELECT false AND EXISTS'],
} as const;

/** Runs `work` while the database has the bug. */
export async function withBug(api: TestApi, bug: keyof typeof PLANTED, work: () => Promise<void>): Promise<void> {
  const [name, right, wrong] = PLANTED[bug];
  const admin = new pg.Client({ connectionString: api.database.adminUrl });
  await admin.connect();
  try {
    const { rows } = await admin.query<{ text: string }>(
      `SELECT pg_get_functiondef(oid) AS text FROM pg_proc WHERE proname = $1 AND pronamespace = 'public'::regnamespace`,
      [name],
    );
    const text = rows[0]!.text;
    if (!text.includes(right)) throw new Error(`${name} does not say "${right}"`);
    await admin.query(text.replaceAll(right, wrong));
    try {
      await work();
    } finally {
      await admin.query(text);
    }
  } finally {
    await admin.end();
  }
}

/** @returns the shrunk sequence that breaks a rule, and how; null when none does */
export async function findBreach(
  api: TestApi,
  make: Factories,
  { seed, runs, longest }: { seed: number; runs: number; longest: number },
): Promise<{ commands: Command[]; why: string } | null> {
  const property = fc.asyncProperty(fc.array(anyCommand, { minLength: 1, maxLength: longest }), async (commands) => {
    await Identities.run(api, make, commands);
  });
  const outcome = await fc.check(property, { seed, numRuns: runs, examples: CORPUS.map((commands) => [commands]) });
  if (!outcome.failed) return null;
  return { commands: outcome.counterexample![0], why: String(outcome.errorInstance) };
}

/**
 * All sequences of the {@link FEW} commands up to a length. Of those that lead to the same state only the first is
 * continued.
 *
 * @returns how many were run
 */
export async function runAll(api: TestApi, make: Factories, longest: number): Promise<number> {
  const seen = new Set<string>();
  let runs = 0;
  let next: Command[][] = [[]];
  for (let length = 1; length <= longest; length++) {
    const last = next;
    next = [];
    for (const begun of last) {
      for (const command of FEW) {
        const commands = [...begun, command];
        runs++;
        const model = await Identities.run(api, make, commands).catch((error: unknown) => {
          throw new Error(`${String(error)} after ${JSON.stringify(commands)}`);
        });
        const state = await model.signature();
        if (seen.has(state)) continue;
        seen.add(state);
        next.push(commands);
      }
    }
  }
  return runs;
}
