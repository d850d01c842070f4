import fc from 'fast-check';

export type CodeKind = 'student' | 'tutor' | 'class' | 'parent';

/** Who takes part, by number: see `BelongingStage`. The third is an owner who cannot sign in, so they never act. */
export const PEOPLE = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const ACTING = PEOPLE.filter((one) => one !== 2);

const who = fc.constantFrom(...ACTING);
const by = fc.constantFrom(0, 0, 0, 1, 1, 3, 3, ...ACTING);
const anybody = fc.constantFrom(...PEOPLE);
const kind = fc.constantFrom<CodeKind>('student', 'tutor', 'class', 'parent');
/** Which of the invites of a kind: mostly the newest, sometimes one that was replaced or closed. */
const nth = fc.constantFrom(0, 0, 0, 1, 2);
const invited = fc.constantFrom('student' as const, 'tutor' as const, 'admin' as const);
const staff = fc.constantFrom('owner' as const, 'admin' as const, 'tutor' as const);
const as = fc.constantFrom('member' as const, 'member' as const, 'parent' as const);

/** Every single command: how often it comes, and its arguments. */
const COMMANDS = {
  join: [8, { who, kind, nth }],
  openMail: [4, { who, accept: fc.constantFrom(true, true, false) }],
  answer: [2, { who, accept: fc.boolean() }],
  invite: [3, { by, who: anybody, role: invited }],
  keyInvite: [2, { by: fc.constantFrom(null, null, 1, 3), who: anybody, role: invited }],
  decide: [4, { by, who: anybody, as, approve: fc.boolean() }],
  remove: [4, { by, who: anybody }],
  keyRemove: [1, { who: anybody, as: fc.constantFrom('student' as const, 'staff' as const, 'parent' as const) }],
  leave: [2, { who }],
  role: [3, { by, who: anybody, role: staff }],
  replace: [2, { by, kind, nth }],
  switchOff: [1, { by, kind, nth }],
  undo: [2, { by, kind, nth, back: fc.integer({ min: 0, max: 6 }) }],
  makeKey: [2, { by }],
} as const;

type Arguments<T> = { -readonly [K in keyof T]: T[K] extends fc.Arbitrary<infer V> ? V : never };
export type Single = { [K in keyof typeof COMMANDS]: { do: K } & Arguments<(typeof COMMANDS)[K][1]> }[keyof typeof COMMANDS];
/** Two at the same time, or 20 who race for the last places of a code. */
export type Command = Single | { do: 'both'; acts: [Single, Single] } | { do: 'race'; kind: 'class' | 'parent'; left: number };

type Any = readonly [weight: number, given: Record<string, fc.Arbitrary<unknown>>];
const single = fc.oneof(
  ...Object.entries<Any>(COMMANDS).map(([name, [weight, given]]) => ({ weight, arbitrary: fc.record({ do: fc.constant(name), ...given }) })),
) as fc.Arbitrary<Single>;

/** What one owner does to another at the same time as they do it to them, and what somebody does while they are removed. */
const mutual: fc.Arbitrary<[Single, Single]> = fc.oneof(
  fc.constant<[Single, Single]>([{ do: 'remove', by: 0, who: 1 }, { do: 'remove', by: 1, who: 0 }]), // prettier-ignore
  fc.constant<[Single, Single]>([{ do: 'leave', who: 0 }, { do: 'leave', who: 1 }]), // prettier-ignore
  fc.record({ who, kind, by }).map(({ who, kind, by }): [Single, Single] => [
    { do: 'join', who, kind, nth: 0 },
    { do: 'replace', by, kind, nth: 0 },
  ]),
  fc
    .tuple(single, fc.constantFrom(1, 3))
    .map(([act, who]): [Single, Single] => ['by' in act && act.by !== null ? { ...act, by: who } : act, { do: 'remove', by: 0, who }]),
  fc.tuple(by, who, as).map(([by, who, as]): [Single, Single] => [
    { do: 'decide', by, who, as, approve: true },
    { do: 'remove', by: 0, who },
  ]),
  fc.tuple(single, single),
);

export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 30, arbitrary: single },
  { weight: 8, arbitrary: mutual.map((acts): Command => ({ do: 'both', acts })) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('race' as const),
      kind: fc.constantFrom('class' as const, 'parent' as const),
      left: fc.integer({ min: 0, max: 3 }),
    }),
  },
);
