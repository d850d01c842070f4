import { Area } from '../../http/kit.js';
import { CoverageModule } from './coverage/coverage.module.js';
import { InvitesModule } from './invites/invites.module.js';
import { LocationsModule } from './locations.module.js';
import { ParentsModule } from './parents/parents.module.js';
import { StudentsModule } from './students/students.module.js';
import { TutorsModule } from './tutors/tutors.module.js';
import { UsersModule } from './users/users.module.js';

/** Who belongs to the organization, and how they join. */
@Area({
  imports: [UsersModule, InvitesModule, StudentsModule, TutorsModule, ParentsModule, LocationsModule, CoverageModule],
  tags: {
    users: ['Users', 'Find a person; create or invite up to 100 students, tutors and parents in one request.'],
    invites: ['Invites', 'Join links and codes, for one person or for many.'],
    org: ['Organization', 'The permanent join links of the organization.'],
    students: ['Students', 'Students of the organization, whether pending, accepted or archived.'],
    tutors: ['Tutors', 'Owners, admins and tutors of the organization, and the public reviews of tutors.'],
    parents: ['Parents', 'Parents, the children they are linked to, and what they owe.'],
    locations: ['Locations', 'Where the organization teaches, and where its people live or are taught.'],
    coverage: ['Coverage', 'Where tutors teach in person, and where they are missing.'],
  },
})
export class PeopleModule {}
