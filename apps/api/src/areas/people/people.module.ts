import { AccessModule } from '@app/access';
import { EnquiriesModule } from '@app/enquiries';
import { PapersModule } from '@app/papers';
import { RowsModule } from '@app/rows';
import { TeachingModule as Teaching } from '@app/teaching';
import { Area, HttpModule } from '../../http/kit.js';
import { CoverageGuard } from './coverage/coverage.guard.js';
import { CoverageService } from './coverage/coverage.service.js';
import { COVERAGE_CONTROLLERS } from './coverage/coverage.controller.js';
import { INVITES_CONTROLLERS } from './invites/invites.controller.js';
import { LOCATIONS_CONTROLLERS } from './locations.controller.js';
import { ORG_CONTROLLERS } from './org.controller.js';
import { PARENTS_CONTROLLERS } from './parents/parents.controller.js';
import { ERASE_CONTROLLERS } from './people/people.controller.js';
import { STUDENTS_CONTROLLERS } from './students/students.controller.js';
import { TUTORS_CONTROLLERS } from './tutors/tutors.controller.js';
import { USERS_CONTROLLERS } from './users/users.controller.js';

/** Who belongs to the organization, and how they join. */
@Area({
  imports: [HttpModule, AccessModule, EnquiriesModule, PapersModule, RowsModule, Teaching],
  controllers: [
    ...USERS_CONTROLLERS,
    ...INVITES_CONTROLLERS,
    ...STUDENTS_CONTROLLERS,
    ...TUTORS_CONTROLLERS,
    ...ORG_CONTROLLERS,
    ...PARENTS_CONTROLLERS,
    ...LOCATIONS_CONTROLLERS,
    ...COVERAGE_CONTROLLERS,
    ...ERASE_CONTROLLERS,
  ],
  providers: [CoverageGuard, CoverageService],
  tags: {
    users: ['Users', 'Find a person; create or invite up to 100 students, tutors and parents in one request.'],
    invites: ['Invites', 'Join links and codes, for one person or for many.'],
    org: ['Organization', 'The organization itself, and its permanent join links.'],
    students: ['Students', 'Students of the organization, whether pending, accepted or archived.'],
    tutors: ['Tutors', 'Owners, admins and tutors of the organization, and the public reviews of tutors.'],
    parents: ['Parents', 'Parents, the children they are linked to, and what they owe.'],
    locations: ['Locations', 'Where the organization teaches, and where its people live or are taught.'],
    people: ['People', 'Erase somebody who has left.'],
    coverage: ['Coverage', 'Where tutors teach in person, and where they are missing.'],
  },
})
export class PeopleModule {}
