import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Invitations, Invites, InviteTargets, type MintedInvite } from '@app/people';
import { Database, normalizeEmail } from '@app/database';
import { ApiError, Audit, type Caller, Fault } from '../../../http/kit.js';
import type { CreateInvite, InviteScope } from './invites.dto.js';

const ALREADY_MEMBER = new Fault('value_error', 'This person is already a member of the organization.', ['email']);

/** Join links and codes. The response shows the secret only once; only its hash is stored. */
@Injectable()
export class InvitesService {
  constructor(
    private readonly db: Database,
    private readonly invites: Invites,
    private readonly targets: InviteTargets,
    private readonly invitations: Invitations,
    private readonly audit: Audit,
  ) {}

  /** @throws ApiError 404 for an unknown target; ValidationFailed for the address of a member */
  async create(caller: Caller, wanted: CreateInvite) {
    const { keyId } = caller;
    const { scope, email = null, subject_id: subjectId = null } = wanted;
    const targetId = this.targetOf(caller, wanted);
    await this.checkTarget(caller, scope, targetId, subjectId);
    if (scope === 'organization' && email !== null) await this.checkNewcomer(caller, email);
    const role = roleOf(wanted);
    const wish = { scope, role, targetId, subjectId, email, apiKeyId: keyId };
    const { invite, joinUrl, emailed } = await this.invitations.send(caller, wish);
    const { id, secret, expiresAt, createdAt } = invite;
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

  private async checkTarget(caller: Caller, scope: InviteScope, id: string, subjectId: string | null): Promise<void> {
    const { organizationId } = caller;
    const subject = sql`SELECT FROM subjects WHERE organization_id = ${organizationId} AND id = ${subjectId}`;
    if (!(await this.targets.has(organizationId, scope, id))) throw ApiError.notFound();
    if (subjectId !== null && (await this.db.query(subject)).length === 0) throw ApiError.notFound();
  }

  private async checkNewcomer({ organizationId }: Caller, email: string): Promise<void> {
    const members = await this.db.query(sql`
      SELECT FROM logins_by_email(${[normalizeEmail(email)]}) l JOIN members m ON m.user_id = l.id
      WHERE m.organization_id = ${organizationId} AND m.status = 'accepted'`);
    if (members.length === 0) return;
    throw ALREADY_MEMBER.inBody();
  }
}

function roleOf({ scope, role }: CreateInvite): MintedInvite['role'] {
  if (scope === 'organization') return role ?? 'tutor';
  return scope === 'parent' ? 'parent' : 'student';
}
