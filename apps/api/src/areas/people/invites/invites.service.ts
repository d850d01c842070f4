import { Injectable } from '@nestjs/common';
import { Codes, readsCodes } from '@app/accounts';
import { Invitations, Invites, type MintedInvite, type StandingRole } from '@app/people';
import { Audit, type Caller } from '../../../http/kit.js';
import type { CreateInvite, InviteScope } from './invites.dto.js';

/** Join links and codes. The response shows the secret only once; only its hash is stored. */
@Injectable()
export class InvitesService {
  constructor(
    private readonly invites: Invites,
    private readonly invitations: Invitations,
    private readonly codes: Codes,
    private readonly audit: Audit,
  ) {}

  /** @throws Refused for an unknown target, and for the address of a member */
  async create(caller: Caller, wanted: CreateInvite) {
    const { keyId } = caller;
    const { scope, email = null, subject_id: subject = null } = wanted;
    const targetId = this.targetOf(caller, wanted);
    const role = roleOf(wanted);
    const wish = { scope, role, targetId, subject, email, apiKeyId: keyId };
    const { invite, joinUrl, emailed } = await this.invitations.invite(caller, wish);
    const { id, secret, subjectId = null, expiresAt, createdAt } = invite;
    this.audit.note({ invite_id: id, scope, role, target_id: targetId, subject_id: subjectId, emailed });
    return {
      scope,
      id,
      role,
      target_id: targetId,
      email,
      token: secret,
      join_url: joinUrl,
      expires_at: expiresAt.toISOString(),
      subject_id: subjectId,
      emailed,
      created_at: createdAt.toISOString(),
    };
  }

  /** @throws Refused for one that is closed or permanent, and for the link to an account */
  async remove({ organizationId }: Caller, id: string): Promise<void> {
    await this.invitations.end(organizationId, id);
    this.audit.note({ invite_id: id });
  }

  async getJoinLink(caller: Caller) {
    const none = { student: null, tutor: null };
    return this.linksOf(readsCodes(caller) ? await this.invites.standingCodes(caller) : none);
  }

  async replaceJoinLink({ organizationId, keyId }: Caller) {
    const made = await this.codes.replacePermanent(organizationId, { userId: null, apiKeyId: keyId });
    this.audit.note({ invite_ids: made.map(({ id }) => id) });
    const codeOf = (role: StandingRole) => made.find((code) => code.role === role)?.code ?? null;
    return this.linksOf({ student: codeOf('student'), tutor: codeOf('tutor') });
  }

  private linksOf({ student, tutor }: Record<StandingRole, string | null>) {
    return {
      student_code: student,
      student_url: student && this.invites.joinUrl(student),
      tutor_code: tutor,
      tutor_url: tutor && this.invites.joinUrl(tutor),
    };
  }

  private targetOf({ organizationId }: Caller, wanted: CreateInvite): string {
    const { classroom_id, group_id, tutor_id, student_id } = wanted;
    const targets: Record<InviteScope, string | null | undefined> = {
      organization: organizationId,
      classroom: classroom_id,
      group: group_id,
      tutor_student: tutor_id,
      parent: student_id,
    };
    return targets[wanted.scope]!;
  }
}

function roleOf({ scope, role }: CreateInvite): MintedInvite['role'] {
  if (scope === 'organization') return role ?? 'tutor';
  return scope === 'parent' ? 'parent' : 'student';
}
