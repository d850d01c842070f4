import fc from 'fast-check';

/** Two organizations. The first is hostile: the attacker sees all its responses. */
export type Org = 0 | 1;
/** Three addresses and the people who read their mail. The first is the attacker's. */
export type Place = 0 | 1 | 2;

/** How an invite is accepted: with the person's password, with a new passkey, or while signed in. */
export type Means = 'password' | 'passkey' | 'session';

export const ORGS = [0, 1] as const;
export const PLACES = [0, 1, 2] as const;
export const KINDS = ['student', 'tutor', 'parent'] as const;

const org = fc.constantFrom(...ORGS);
const at = fc.constantFrom(...PLACES);
const using = fc.constantFrom<Means>('password', 'password', 'passkey', 'session');
const role = fc.constantFrom('student' as const, 'tutor' as const);

/** Every command: how often it comes, and its arguments. Imports are rare because they are slow. */
const COMMANDS = {
  provision: [4, { org, kind: fc.constantFrom(...KINDS), at }],
  change: [3, { org, at, to: at }],
  invite: [3, { org, at }],
  code: [1, { org, role }],
  openAnswer: [4, { org, by: at, using }],
  openMail: [4, { at, using }],
  answer: [2, { org, by: at, accept: fc.boolean() }],
  lure: [1, { by: at }],
  signIn: [3, { by: at, at }],
  addPasskey: [1, { by: at }],
  usePasskey: [1, { by: at }],
  resetPassword: [2, { at }],
  decide: [1, { org, at, approve: fc.boolean() }],
  live: [4, { at }],
  archive: [1, { org, at }],
  sendInvite: [2, { org, at }],
  import: [1, { org, at }],
  teach: [3, { org, at }],
} as const;

type Arguments<T> = { -readonly [K in keyof T]: T[K] extends fc.Arbitrary<infer V> ? V : never };
export type Command = {
  [K in keyof typeof COMMANDS]: { do: K } & Arguments<(typeof COMMANDS)[K][1]>;
}[keyof typeof COMMANDS];

type Any = readonly [weight: number, given: Record<string, fc.Arbitrary<unknown>>];
export const anyCommand = fc.oneof(
  ...Object.entries<Any>(COMMANDS).map(([name, [weight, given]]) => ({ weight, arbitrary: fc.record({ do: fc.constant(name), ...given }) })),
) as fc.Arbitrary<Command>;
