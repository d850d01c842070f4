import { isEmail, type WantedInvite } from '@app/people';
import { type Caller, Fault, field, type Interdependent, TOGETHER, VariantsBy } from '../../../http/kit.js';
import { INVITE_ROLES, INVITE_SCOPES } from './invites.view.js';

export type InviteScope = (typeof INVITE_SCOPES)[number];
type Field = 'role' | 'tutor_id' | 'subject_id' | 'classroom_id' | 'group_id' | 'student_id';

/** Fields that belong to one scope, and whether that scope requires them. */
const OWN_FIELDS: Record<Field, { scope: InviteScope; required: boolean }> = {
  role: { scope: 'organization', required: false },
  tutor_id: { scope: 'tutor_student', required: true },
  subject_id: { scope: 'tutor_student', required: false },
  classroom_id: { scope: 'classroom', required: true },
  group_id: { scope: 'group', required: true },
  student_id: { scope: 'parent', required: true },
};

const variant = (scope: InviteScope, name: string) => {
  const fields = Object.entries(OWN_FIELDS);
  const without = fields.filter(([, own]) => own.scope !== scope).map(([field]) => field);
  const required = fields.filter(([, own]) => own.scope === scope && own.required).map(([field]) => field);
  return [scope, { name, without, required }] as const;
};

/** null means the same as leaving a field out. */
@VariantsBy(
  'scope',
  Object.fromEntries([
    variant('organization', 'CreateOrganizationInvite'),
    variant('classroom', 'CreateClassroomInvite'),
    variant('group', 'CreateGroupInvite'),
    variant('tutor_student', 'CreateTutorStudentInvite'),
    variant('parent', 'CreateParentInvite'),
  ]),
)
export class CreateInvite implements Interdependent {
  @field.OneOf(INVITE_SCOPES, { required: true, description: 'What the invite is for.' })
  scope: InviteScope;

  @field.OneOf(INVITE_ROLES, {
    nullable: true,
    description: 'Scope `organization` only, `tutor` unless given. `admin` needs an `email`.',
  })
  role?: (typeof INVITE_ROLES)[number] | null;

  @field.Text({ min: 1, max: 254, trim: true }, { nullable: true, description: 'The person to invite.' })
  email?: string | null;

  @field.Uuid({ nullable: true, description: 'Scope `tutor_student`, required: a tutor of the organization.' })
  tutor_id?: string | null;

  @field.Uuid({ nullable: true, description: 'Scope `classroom`, required.' })
  classroom_id?: string | null;

  @field.Uuid({ nullable: true, description: 'Scope `group`, required.' })
  group_id?: string | null;

  @field.Uuid({ nullable: true, description: 'Scope `parent`, required: the child.' })
  student_id?: string | null;

  @field.IdOrCode({ nullable: true, description: 'Scope `tutor_student` only: id or code.' })
  subject_id?: string | null;

  [TOGETHER](): Fault[] {
    const faults: Fault[] = [];
    if (INVITE_SCOPES.includes(this.scope)) {
      for (const [name, { scope, required }] of Object.entries(OWN_FIELDS)) {
        const given = (this[name as Field] ?? null) !== null;
        if (given && scope !== this.scope) {
          faults.push(new Fault('extra_forbidden', `Leave this out: it is only for scope ${scope}.`, [name]));
        } else if (!given && required && scope === this.scope) {
          faults.push(new Fault('missing', `Required for scope ${scope}.`, [name]));
        }
      }
    }
    if (this.role === 'admin' && (this.email ?? null) === null && this.scope === 'organization') {
      faults.push(
        new Fault('value_error', 'An invite for an admin needs an "email", because a code could be passed on.', [
          'role',
        ]),
      );
    }
    if (typeof this.email === 'string' && !isEmail(this.email)) {
      faults.push(new Fault('value_error', 'Must be an email address, for example mia@example.org.', ['email']));
    }
    return faults;
  }
}

/** What a valid body asks for. */
export function wishOf(body: CreateInvite, { organizationId, keyId }: Caller): WantedInvite {
  const { scope, email = null, subject_id: subject = null } = body;
  const targets: Record<InviteScope, string | null | undefined> = {
    organization: organizationId,
    classroom: body.classroom_id,
    group: body.group_id,
    tutor_student: body.tutor_id,
    parent: body.student_id,
  };
  const roles: Partial<Record<InviteScope, WantedInvite['role']>> = {
    organization: body.role ?? 'tutor',
    parent: 'parent',
  };
  return { scope, role: roles[scope] ?? 'student', targetId: targets[scope]!, subject, email, apiKeyId: keyId };
}
