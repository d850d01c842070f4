import { Controller, Get } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, Post, RequireAnyScope, RequireScopes, ValidBody, ValidQuery,
} from '../../../http/kit.js'; // prettier-ignore
import { BulkInvite, FindUser } from './users.dto.js';
import { userLookupView } from './users.queries.js';
import { UsersService, scopesOfRows } from './users.service.js';
import { bulkInviteShape } from './users.view.js';

@Controller('v1/users')
export class UsersController {
  constructor(private readonly people: UsersService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'find_user',
    summary: 'Finds a person of the organization by email or phone',
    description:
      'Give exactly one of the two. Members and linked parents are found by what the organization sees of them; ' +
      'phone numbers are the same if their digits are. Of several people, the one who accepted first is returned; ' +
      'nobody is a 404.',
    answer: one(userLookupView),
  })
  find(@CurrentCaller() caller: Caller, @ValidQuery(FindUser) query: FindUser) {
    return this.people.find(caller, query);
  }

  @Post('bulk-invite', 200)
  @RequireAnyScope(['students:write', 'tutors:write'], scopesOfRows)
  @Documented({
    id: 'bulk_invite_users',
    summary: 'Creates or invites 1 to 100 students, tutors and parents in one call',
    description:
      'Rows are provisioned independently, and results are in the same order. A row with invalid values gets ' +
      'its own `error`; a request with the wrong structure is refused as a whole (422).\n\nA new address, or ' +
      'none, creates a login (`created`). If the address has a login elsewhere, its person is invited and ' +
      '`pending` until they accept; none of their data is shown or changed. Inviting a pending person again ' +
      'sends another email after a day at the earliest. `exists` is a member who has already accepted: nothing ' +
      'is done, not even for the row’s `parent`.\n\nStudents and parents need `students:write`, tutors ' +
      '`tutors:write`; a key that lacks a required scope is refused before anything is done.',
    answer: one(bulkInviteShape),
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
  })
  invite(@CurrentCaller() caller: Caller, @ValidBody(BulkInvite) body: BulkInvite) {
    return this.people.invite(caller, body);
  }
}
