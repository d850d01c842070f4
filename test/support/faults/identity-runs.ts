import { randomBytes } from 'node:crypto';
import argon2 from '@node-rs/argon2';
import fc from 'fast-check';
import pg from 'pg';
import { Factories } from '../data/factories.js';
import { TestApi } from '../http/api.js';
import { TestPortal } from '../portal/portal.js';
import { anyCommand, type Command } from './identity-commands.js';
import { findFault, type Run } from './histories.js';
import { Identities, type IdentityFixture } from './identity-model.js';

export async function openStage(connections = 4): Promise<IdentityFixture> {
  // Hashing thousands of passwords would take most of the time, and its cost does not matter here.
  vi.spyOn(argon2, 'hash').mockImplementation((password) =>
    Promise.resolve(`$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$${Buffer.from(password).toString('base64url')}`),
  );
  const settings = {
    SMTP_URL: 'smtp://127.0.0.1:1',
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    LOG_LEVEL: 'silent',
    DATABASE_POOL_SIZE: String(connections),
    TRUST_PROXY: 'true',
  };
  const api = await TestApi.start(settings);
  const portal = await TestPortal.start(settings, api.database);
  return { api, portal, make: await Factories.connect(api.database) };
}

export async function closeStage({ api, portal, make }: IdentityFixture): Promise<void> {
  await make.close();
  await portal.stop();
  await api.stop();
  vi.restoreAllMocks();
}

/** Shrunk sequences that once failed, in development or with a planted bug. */
export const CORPUS: Command[][] = [
  // The attacker creates a login with their own address and changes it to the victim's, to stay linked to it.
  [
    { do: 'provision', org: 0, kind: 'student', at: 0 },
    { do: 'change', org: 0, at: 0, to: 1 },
    { do: 'provision', org: 1, kind: 'student', at: 1 },
    { do: 'change', org: 0, at: 1, to: 0 },
    { do: 'openMail', at: 1, using: 'password' },
    { do: 'live', at: 1 },
  ],
  // A squatter sets a password before the victim reads any mail.
  [
    { do: 'invite', org: 0, at: 1 },
    { do: 'openAnswer', org: 0, by: 0, using: 'password' },
    { do: 'teach', org: 0, at: 1 },
    { do: 'provision', org: 1, kind: 'student', at: 1 },
    { do: 'openMail', at: 1, using: 'password' },
    { do: 'live', at: 1 },
  ],
  // A login with an unproven address accepts another organization's invite.
  [
    { do: 'invite', org: 0, at: 1 },
    { do: 'openAnswer', org: 0, by: 1, using: 'password' },
    { do: 'invite', org: 1, at: 1 },
    { do: 'openAnswer', org: 1, by: 1, using: 'password' },
  ],
  // A pending parent, and a reviewer.
  [
    { do: 'invite', org: 1, at: 1 },
    { do: 'openMail', at: 1, using: 'password' },
    { do: 'provision', org: 0, kind: 'parent', at: 1 },
    { do: 'teach', org: 0, at: 1 },
    { do: 'live', at: 1 },
  ],
  [
    { do: 'invite', org: 1, at: 1 },
    { do: 'openMail', at: 1, using: 'password' },
    { do: 'import', org: 0, at: 1 },
    { do: 'teach', org: 0, at: 1 },
    { do: 'archive', org: 0, at: 1 },
    { do: 'live', at: 1 },
  ],
  // The address of a login that has only a passkey changes.
  [
    { do: 'invite', org: 0, at: 0 },
    { do: 'openAnswer', org: 0, by: 0, using: 'passkey' },
    { do: 'usePasskey', by: 0 },
    { do: 'change', org: 0, at: 0, to: 1 },
  ],
  // Another site makes the browser of somebody who is signed in accept.
  [
    { do: 'invite', org: 1, at: 1 },
    { do: 'openMail', at: 1, using: 'password' },
    { do: 'code', org: 0, role: 'student' },
    { do: 'lure', by: 1 },
  ],
  // A person first uses a login that an organization created by setting a password.
  [
    { do: 'provision', org: 0, kind: 'student', at: 1 },
    { do: 'resetPassword', at: 1 },
    { do: 'live', at: 1 },
  ],
];

/** Planted bugs: the place of a sequence that finds it, a function of the schema, the text to replace in it, and the replacement. */
export const PLANTED = {
  'a match by an address that nobody has proven': [2, 'accept_ties', 'NOT trusted AND', 'false AND'],
  'a takeover that leaves what was accepted before': [0, 'take_login', 'FOUND OR same_person', 'FOUND OR true'],
  'an address that moves although others are tied': [2, 'tied_elsewhere', 'SELECT EXISTS', 'SELECT false AND EXISTS'],
  'sessions that outlive an address': [5, 'end_sessions', 'WHERE user_id =', 'WHERE false AND user_id ='],
  'a proof that accepts what nobody has accepted': [7, 'await_consent', 'is_used(NEW.id)', 'true'],
} as const;

/** Runs `work` while a function of the schema has another text. */
export async function withText(api: TestApi, [name, right, wrong]: readonly [string, string, string], work: () => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: api.database.adminUrl });
  await admin.connect();
  try {
    const { rows } = await admin.query<{ text: string }>(
      `SELECT pg_get_functiondef(oid) AS text FROM pg_proc WHERE proname = $1 AND pronamespace = 'public'::regnamespace`,
      [name],
    );
    const text = rows[0]!.text;
    if (!text.includes(right)) throw new Error(`${name} does not contain "${right}"`);
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

const run = (stage: IdentityFixture) => (commands: Command[]) => Identities.run(stage, commands);
const sequences = (longest: number) => fc.array(anyCommand, { minLength: 1, maxLength: longest });

/** Sequences of up to so many commands, several at once, each with its own organizations and people: they mostly wait for the database. */
export const findBreach = (stage: IdentityFixture, { longest, ...rest }: Run & { longest: number }) =>
  findFault(sequences(longest), run(stage), { shrinks: true, ...rest }, { corpus: CORPUS, atOnce: 8 });

/** What is wrong with a planted bug in this sequence of the corpus, or else in the others. */
export const findPlanted = (stage: IdentityFixture, place: number) =>
  findFault(sequences(1), run(stage), { seed: 7, runs: 0 }, { corpus: [CORPUS[place]!, ...CORPUS] });
