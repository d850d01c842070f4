import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CurrentCaller, RequireAnyScope } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, one } from '../../http/openapi/operation.decorator.js';
import { Idempotent } from '../../http/writes/idempotency-key.js';
import { BulkInvite } from './users.dto.js';
import { UsersService, scopesOfRows } from './users.service.js';
import { bulkInviteShape } from './users.view.js';

@Controller('v1/users/bulk-invite')
export class UsersController {
  constructor(private readonly people: UsersService) {}

  @Post()
  @HttpCode(200)
  @RequireAnyScope(['students:write', 'tutors:write'], scopesOfRows)
  @Idempotent()
  @Documented({
    id: 'bulk_invite_users',
    summary: 'Creates or invites 1 to 100 students, tutors and parents in one call',
    description:
      'Rows are provisioned independently, and answered in their order. A row whose values cannot be is an `error` of its ' +
      'own; a request whose shape is wrong is refused as a whole (422).\n\n' +
      'A new address, or none, makes a login (`created`). A login that exists elsewhere is invited, and `pending` until ' +
      'that person accepts; nothing of them is shown or changed. Again while pending mails again after a day at the ' +
      'earliest. `exists` is an accepted member already: nothing is done, not even with the `parent` of the row.\n\n' +
      'Students and parents need `students:write`, tutors `tutors:write`; a key that lacks any of those needed is ' +
      'refused before anything is done.',
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
  invite(@CurrentCaller() caller: Caller, @Body() body: BulkInvite) {
    return this.people.invite(caller, body);
  }
}
