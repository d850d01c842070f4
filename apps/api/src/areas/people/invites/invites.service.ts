import { Injectable } from '@nestjs/common';
import { Invitations, Invites, type MintedInvite } from '@app/people';
import { Audit, type Caller } from '../../../http/kit.js';
import type { CreateInvite, InviteScope } from './invites.dto.js';

/** Join links and codes. The response shows the secret only once; only its hash is stored. */
@Injectable()
export class InvitesService {
  constructor(
    private readonly invites: Invites,
    private readonly invitations: Invitations,
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

  async getJoinLink(caller: Caller) {
    const { student, tutor } = await this.invites.standingCodes(caller);
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
