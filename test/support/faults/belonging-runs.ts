import fc from 'fast-check';
import { Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { anyCommand, type Command } from './belonging-commands.js';
import { BelongingModel } from './belonging-model.js';
import { findFault, type Run } from './histories.js';
import type { IdentityFixture } from './identity-model.js';

/** Shrunk sequences that once failed, in development or with a planted bug. */
export const CORPUS: Command[][] = [
  // The last owner who can sign in leaves.
  [{ do: 'remove', by: 0, who: 1 }, { do: 'leave', who: 0 }], // prettier-ignore
  // An admin who has a key is removed, and one becomes a tutor.
  [{ do: 'makeKey', by: 3 }, { do: 'remove', by: 0, who: 3 }], // prettier-ignore
  [{ do: 'makeKey', by: 3 }, { do: 'keyInvite', by: 3, who: 6, role: 'tutor' }, { do: 'role', by: 0, who: 3, role: 'tutor' }], // prettier-ignore
  // Somebody who waits for an approval is removed.
  [{ do: 'join', who: 6, kind: 'tutor', nth: 0 }, { do: 'remove', by: 0, who: 6 }], // prettier-ignore
  // Twenty people want the last places.
  [{ do: 'race', kind: 'class', left: 2 }, { do: 'race', kind: 'parent', left: 1 }], // prettier-ignore
  // A code is replaced, and somebody opens the old one.
  [{ do: 'replace', by: 0, kind: 'class', nth: 0 }, { do: 'join', who: 6, kind: 'class', nth: 1 }], // prettier-ignore
  // A code is undone that somebody used who belonged before.
  [
    { do: 'join', who: 6, kind: 'student', nth: 0 },
    { do: 'join', who: 6, kind: 'class', nth: 0 },
    { do: 'join', who: 7, kind: 'class', nth: 0 },
    { do: 'undo', by: 0, kind: 'class', nth: 0, back: 6 },
  ],
  // Somebody leaves, is added again by an owner, and the code that they once came by is undone.
  [
    { do: 'join', who: 6, kind: 'student', nth: 0 },
    { do: 'leave', who: 6 },
    { do: 'invite', by: 0, who: 6, role: 'student' },
    { do: 'undo', by: 0, kind: 'student', nth: 0, back: 6 },
  ],
  // A parent and a tutor wait, are approved, and are removed.
  [
    { do: 'join', who: 5, kind: 'parent', nth: 0 },
    { do: 'join', who: 6, kind: 'tutor', nth: 0 },
    { do: 'decide', by: 3, who: 5, as: 'parent', approve: true },
    { do: 'decide', by: 3, who: 6, as: 'member', approve: true },
    { do: 'remove', by: 3, who: 5 },
    { do: 'keyRemove', who: 6, as: 'staff' },
    { do: 'join', who: 6, kind: 'tutor', nth: 0 },
  ],
  // The same for somebody whom an owner had added before they used the code.
  [
    { do: 'invite', by: 0, who: 6, role: 'student' },
    { do: 'join', who: 6, kind: 'class', nth: 0 },
    { do: 'undo', by: 0, kind: 'class', nth: 0, back: 6 },
  ],
  // What an admin does while they are removed.
  ...(
    [
      { do: 'replace', by: 3, kind: 'parent', nth: 0 },
      { do: 'switchOff', by: 3, kind: 'parent', nth: 0 },
      { do: 'decide', by: 3, who: 7, as: 'member', approve: true },
      { do: 'invite', by: 3, who: 6, role: 'tutor' },
    ] as const
  ).map((act): Command[] => [
    { do: 'join', who: 7, kind: 'tutor', nth: 0 },
    { do: 'both', acts: [{ do: 'remove', by: 0, who: 3 }, act] },
  ]),
];

/** Planted bugs in the database: the place of a sequence that finds it, a function of the schema, the text to replace in it, and the replacement. */
export const PLANTED = {
  'the last owner who can sign in may go': [0, 'other_owner_signs_in', 'SELECT EXISTS', 'SELECT true OR EXISTS'],
  'a session that shows former memberships': [0, 'portal_session', "members.user_id = u.id AND status = 'accepted'", 'members.user_id = u.id'],
} as const;

/** Planted bugs in statements of the code: the place of a sequence that finds it, the text to replace in them, and the replacement. */
export const MISWRITTEN = {
  'a removal that leaves keys': [1, 'UPDATE api_keys SET revoked_at = now()', 'UPDATE api_keys SET revoked_at = NULL'],
  'a removal that leaves approvals': [3, 'DELETE FROM joins WHERE organization_id =', 'DELETE FROM joins WHERE false AND organization_id ='],
  'places that nobody counts': [4, 'SELECT i.places, j.invite_id', 'SELECT NULL::integer AS places, j.invite_id'],
  'a replaced code that still opens': [5, 'SET revoked_at = coalesce(revoked_at, now())', 'SET revoked_at = revoked_at'],
  'an undo that removes those who belonged before': [9, 't.created_at >= j.joined_at', 'true'],
  'an undo that removes those who came back': [
    8,
    "UPDATE joins j SET approval = 'approved' FROM invites i\n        WHERE",
    "UPDATE joins j SET approval = 'approved' FROM invites i\n        WHERE false AND",
  ],
  'an act of somebody who has been removed meanwhile': [10, "AND status = 'accepted' AND role IN ('owner', 'admin')", 'OR true LIMIT 1'],
} as const;

/** Runs `work` while the statements of the code that contain a text have another one. */
export async function withStatement([right, wrong]: readonly [string, string], work: () => Promise<void>): Promise<void> {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the instance below
  const { query } = Database.prototype;
  const spy = vi.spyOn(Database.prototype, 'query').mockImplementation(function (this: Database, statement: Sql) {
    const strings = statement.strings.map((text) => text.replaceAll(right, wrong));
    return query.call(this, new Sql(strings, statement.values));
  });
  await work().finally(() => spy.mockRestore());
}

/** Of the API and of the portal: acts wait for each other. */
export const CONNECTIONS = 12;

const run = (stage: IdentityFixture) => (commands: Command[]) => BelongingModel.run(stage, commands);
const sequences = (longest: number) => fc.array(anyCommand, { minLength: 1, maxLength: longest });

/** Sequences of up to so many commands, each with its own organizations and people. */
export const findTrespass = (stage: IdentityFixture, { longest, ...rest }: Run & { longest: number }) =>
  findFault(sequences(longest), run(stage), { shrinks: true, ...rest }, { corpus: CORPUS, atOnce: 4 });

/** What is wrong with a planted bug in this sequence of the corpus, or else in the others. */
export const findPlanted = (stage: IdentityFixture, place: number) =>
  findFault(sequences(1), run(stage), { seed: 7, runs: 0 }, { corpus: [CORPUS[place]!, ...CORPUS] });
