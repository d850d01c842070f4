import { Provisioning } from '@app/people';
import { one, readController, Records, writeController } from '../../../http/kit.js';
import { BulkInvite, FindUser, scopesOfRows, toPerson } from './users.dto.js';
import { personByEmail, personByPhone, userLookupView } from './users.queries.js';
import { answerOf, bulkInviteShape } from './users.view.js';

export const USERS_CONTROLLERS = [
  readController({
    id: 'find_user',
    path: 'v1/users',
    summary: 'Finds a person of the organization by email or phone',
    description:
      'Give exactly one of the two. Members and linked parents are found by what the organization sees of them; ' +
      'phone numbers are the same if their digits are. Of several people, the one who accepted first is returned; ' +
      'nobody is a 404.',
    query: FindUser,
    answer: one(userLookupView),
    rules: [Records],
    run: ({ caller, query: { email, phone } }, records) =>
      records.get(caller, email === undefined ? personByPhone(caller, phone!) : personByEmail(caller, email)),
  }),
  writeController({
    id: 'bulk_invite_users',
    route: 'POST /v1/users/bulk-invite',
    status: 200,
    scope: { anyOf: ['students:write', 'tutors:write'], by: scopesOfRows },
    summary: 'Creates or invites 1 to 100 students, tutors and parents in one call',
    description:
      'Rows are provisioned independently, and results are in the same order. A row with invalid values gets ' +
      'its own `error`; a request with the wrong structure is refused as a whole (422).\n\nA new address, or ' +
      'none, creates a login (`created`). If the address has a login elsewhere, its person is invited and ' +
      '`pending` until they accept; none of their data is shown or changed. Inviting a pending person again ' +
      'sends another email after a day at the earliest. `exists` is a member who has already accepted: nothing ' +
      'is done, not even for the row’s `parent`.\n\nStudents and parents need `students:write`, tutors ' +
      '`tutors:write`; a key that lacks a required scope is refused before anything is done.',
    example: {
      users: [
        {
          type: 'student',
          first_name: 'Mia',
          last_name: 'Nguyen',
          email: 'mia@example.org',
          parent: { first_name: 'Linh', last_name: 'Nguyen', email: 'linh@example.org' },
        },
        { type: 'tutor', first_name: 'Sam', last_name: 'Okafor', email: 'sam@example.org', teaching_mode: 'online' },
        { type: 'parent', first_name: 'Ana', last_name: 'Silva' },
      ],
    },
    body: BulkInvite,
    rules: [Provisioning],
    answers: one(bulkInviteShape),
    async run({ caller, body: { users } }, provisioning) {
      const answer = answerOf(users, await provisioning.provision(caller, users.map(toPerson)));
      const { exists, errors } = answer.summary;
      const ids = answer.results.filter(({ status }) => status === 'ok').map(({ id }) => id!);
      return { audit: { user_ids: ids, exists, errors }, answer };
    },
  }),
];
