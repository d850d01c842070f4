import fc from 'fast-check';

/** Two organizations. The first is hostile: the attacker sees all its responses. */
export type Org = 0 | 1;
/** Three addresses and the people who read their mail. The first is the attacker's. */
export type Place = 0 | 1 | 2;

/** How an invite is accepted: with the person's password, with a new passkey, or while signed in. */
export type Means = 'password' | 'passkey' | 'session';

export type Command =
  | { do: 'provision'; org: Org; kind: 'student' | 'tutor' | 'parent'; at: Place }
  | { do: 'change'; org: Org; at: Place; to: Place }
  | { do: 'invite'; org: Org; at: Place }
  | { do: 'code'; org: Org; role: 'student' | 'tutor' }
  | { do: 'openAnswer'; org: Org; by: Place; using: Means }
  | { do: 'openMail'; at: Place; using: Means }
  | { do: 'answer'; org: Org; by: Place; accept: boolean }
  | { do: 'lure'; by: Place }
  | { do: 'signIn'; by: Place; at: Place }
  | { do: 'addPasskey'; by: Place }
  | { do: 'usePasskey'; by: Place }
  | { do: 'resetPassword'; at: Place }
  | { do: 'decide'; org: Org; at: Place; approve: boolean }
  | { do: 'live'; at: Place }
  | { do: 'archive'; org: Org; at: Place }
  | { do: 'sendInvite'; org: Org; at: Place }
  | { do: 'import'; org: Org; at: Place }
  | { do: 'teach'; org: Org; at: Place };

export const ORGS = [0, 1] as const;
export const PLACES = [0, 1, 2] as const;
export const KINDS = ['student', 'tutor', 'parent'] as const;

const org = fc.constantFrom(...ORGS);
const at = fc.constantFrom(...PLACES);
const using = fc.constantFrom<Means>('password', 'password', 'passkey', 'session');
const role = fc.constantFrom('student' as const, 'tutor' as const);

/** Any command. Imports are rare because they are slow. */
export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('provision' as const), org, kind: fc.constantFrom(...KINDS), at }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('change' as const), org, at, to: at }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('invite' as const), org, at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('code' as const), org, role }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('openAnswer' as const), org, by: at, using }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('openMail' as const), at, using }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), org, by: at, accept: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lure' as const), by: at }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('signIn' as const), by: at, at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('addPasskey' as const), by: at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('usePasskey' as const), by: at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resetPassword' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('decide' as const), org, at, approve: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('live' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('archive' as const), org, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sendInvite' as const), org, at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('import' as const), org, at }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('teach' as const), org, at }) },
);

/** A few commands of each kind against one victim, to enumerate all short sequences. */
export const FEW: Command[] = [
  ...ORGS.flatMap((org): Command[] => [
    { do: 'provision', org, kind: 'student', at: 1 },
    { do: 'invite', org, at: 1 },
    { do: 'openAnswer', org, by: 1, using: 'password' },
    { do: 'teach', org, at: 1 },
    { do: 'archive', org, at: 1 },
    { do: 'sendInvite', org, at: 1 },
    { do: 'import', org, at: 1 },
  ]),
  { do: 'provision', org: 0, kind: 'student', at: 0 },
  { do: 'change', org: 0, at: 0, to: 1 },
  { do: 'change', org: 0, at: 1, to: 0 },
  { do: 'openAnswer', org: 0, by: 0, using: 'password' },
  { do: 'openMail', at: 0, using: 'password' },
  { do: 'openMail', at: 1, using: 'password' },
  { do: 'signIn', by: 0, at: 1 },
  { do: 'resetPassword', at: 1 },
  { do: 'live', at: 1 },
];
