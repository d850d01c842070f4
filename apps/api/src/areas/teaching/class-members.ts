import type { Type } from '@nestjs/common';
import { ClassMembers, type ClassRef } from '@app/people';
import { ClassChanges } from '@app/teaching';
import {
  given,
  instant,
  type list,
  many,
  one,
  oneOf,
  readController,
  uuid,
  View,
  writeController,
} from '../../http/kit.js';

/** What a classroom and a group differ in. */
interface ClassKind {
  kind: ClassRef['kind'];
  shown: ReturnType<typeof list>;
  /** The bodies of who is added, and of a PATCH. */
  bodies: { member: Type<{ user_id: string }>; change: Type<object> };
  /** What else follows from a change. */
  changed: string;
  example: { name: string };
  /** The summary of adding a tutor. */
  led: string;
}

const ADDED = one(new View('MemberAddResult', { member_id: uuid('m.id') }));

const MEMBERS = many(
  new View('ClassMember', {
    member_id: uuid('m.id'),
    user_id: uuid('m.user_id'),
    role: oneOf('m.role', ['teacher', 'tutor', 'student']),
    created_at: instant('m.created_at'),
  }),
);

const AGAIN =
  'Adding somebody again returns the same `member_id`. A member with another role in the organization is a ' +
  '422; a person who is not an accepted member is a 404.';

/** How people come into a classroom or a group and go, and how it changes and ends: the same for both. */
export function classControllers({ kind, shown, bodies, changed, example, led }: ClassKind): Type[] {
  // Of either kind: for the compiler, one stands for both.
  const at = `/v1/${kind}s/:${kind}_id` as '/v1/classrooms/:classroom_id';
  const lead = kind === 'group' ? 'tutor' : 'teacher';
  const [a, scope, rules] = [`a ${kind}`, 'tutors:write' as const, [ClassChanges] as [typeof ClassChanges]] as const;
  const refOf = (ids: Partial<Record<`${ClassRef['kind']}_id`, string>>): ClassRef => ({
    kind,
    id: ids[`${kind}_id`]!,
  });

  const adding = (person: 'student' | 'tutor', summary: string, more = '') =>
    writeController({
      ...{ id: `add_${kind}_${person}`, route: `POST ${at}/${person}s` as const, scope, rules, summary, status: 200 },
      description: AGAIN + more,
      example: { user_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
      body: bodies.member,
      answers: ADDED,
      async run({ organizationId, ids, body: { user_id } }, changes) {
        const as = person === 'student' ? person : lead;
        const { id: member_id, changed } = await changes.admit(organizationId, refOf(ids), user_id, as);
        return { changed, audit: { user_id, member_id }, answer: { member_id } };
      },
    });

  const removing = (person: 'student' | 'tutor', description: string) =>
    writeController({
      ...{
        id: `remove_${kind}_${person}`,
        route: `DELETE ${at}/${person}s/:${person}_id` as `DELETE ${typeof at}/students/:student_id`,
        scope,
        rules,
      },
      summary: `Takes a ${person} out of ${a}`,
      description,
      answers: null,
      run: ({ organizationId, ids }, changes) => {
        const id = ids[`${person}_id` as 'student_id'];
        return changes.dismiss(organizationId, refOf(ids), id, person === 'student' ? person : lead);
      },
    });

  return [
    adding('tutor', led, ` A student of the ${kind} becomes its ${lead}, with the same \`member_id\`.`),
    adding('student', `Adds an accepted student to the ${kind}`),
    writeController({
      ...{ id: `update_${kind}`, route: `PATCH ${at}` as const, scope, rules, example, body: bodies.change },
      summary: `Changes ${a}, or hands it over`,
      description: `Omitted fields stay unchanged. A new tutor gets a place in it, and the former one keeps theirs; lessons that are booked keep their tutor. ${changed}`,
      answers: shown,
      versions: shown,
      run: ({ caller, ids, body }, changes) => changes.change(caller, refOf(ids), { ...given(body) }),
    }),
    writeController({
      ...{ id: `archive_${kind}`, route: `DELETE ${at}` as const, scope, rules },
      summary: `Archives ${a}`,
      description:
        'Its codes die, lists leave it out, and nothing new can name it. What has been done in it stays, with its id; lessons that are booked ' +
        'take place unless they are canceled. PATCH with `is_archived: false` brings it back.',
      answers: null,
      versions: shown,
      run: ({ caller, ids }, changes) => changes.change(caller, refOf(ids), { is_archived: true }),
    }),
    readController({
      ...{ id: `list_${kind}_members`, path: `${at}/members`.slice(1) as `v1/classrooms/:classroom_id/members` },
      summary: `Lists who is in ${a}`,
      description: 'All of them, those who came first at the top.',
      answer: MEMBERS,
      rules: [ClassMembers],
      run: async ({ caller, ids }, members) => ({ data: await members.of(caller, refOf(ids)) }),
    }),
    removing('student', 'Lessons of it that have not begun go on without them.'),
    removing(
      'tutor',
      'If they lead it, nobody does until it is handed over. Lessons that are booked keep their tutor.',
    ),
  ];
}
