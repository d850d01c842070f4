import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Invites, InviteTargets, type MintedInvite, normalizeEmail } from '@app/accounts';
import { Database } from '@app/database';
import { type EmailKind, Outbox } from '@app/jobs';
import type { Caller } from '../../http/auth/caller.js';
import { ApiError, ValidationFailed } from '../../http/errors/api-error.js';
import { Audit } from '../../http/writes/audit.js';
import type { CreateInvite, InviteScope } from './invites.dto.js';

/** The scopes whose email invites are mailed, not only recorded. */
const MAILED: Partial<Record<InviteScope, EmailKind>> = {
  organization: 'organization_invite',
  tutor_student: 'tutor_invite',
};

/** Join links and codes. The secret is in the answer, once; what is stored of it is a hash. */
@Injectable()
export class InvitesService {
  constructor(
    private readonly db: Database,
    private readonly invites: Invites,
    private readonly targets: InviteTargets,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
  ) {}

  /** @throws ApiError 404 for a target that is not here; ValidationFailed for an address that is a member already */
  async create(caller: Caller, wanted: CreateInvite) {
    const { organizationId, keyId } = caller;
    const { scope, email = null, subject_id: subjectId = null } = wanted;
    const targetId = this.targetOf(caller, wanted);
    await this.checkTarget(caller, scope, targetId, subjectId);
    if (scope === 'organization' && email !== null) await this.checkNewcomer(caller, email);
    const linked = scope === 'tutor_student' || (scope === 'organization' && email !== null);
    const [invite] = await this.invites.mint(organizationId, [
      {
        scope,
        role: roleOf(wanted),
        targetId,
        subjectId,
        email,
        code: !linked,
        mailed: email !== null && scope in MAILED,
        apiKeyId: keyId,
      },
    ]);
    const joinUrl = scope === 'parent' ? null : this.invites.joinUrl(invite!.secret);
    const emailed = await this.mail(caller, invite!);
    const { id, role, secret, expiresAt, createdAt } = invite!;
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
    const msg = 'This person is a member of the organization already.';
    throw new ValidationFailed([{ loc: ['body', 'email'], msg, type: 'value_error' }]);
  }

  /** Returns whether a mail was queued. */
  private async mail(caller: Caller, invite: MintedInvite): Promise<boolean> {
    const kind = MAILED[invite.scope as InviteScope];
    if (!kind || !invite.email) return false;
    const payload = {
      organizationName: caller.organization.name,
      timeZone: caller.organization.timeZone,
      firstName: null,
      role: invite.role,
      ...this.invites.linkOf(invite),
    };
    const email = { kind, to: invite.email, inviteId: invite.id, payload };
    const queued = await this.outbox.addEmails(caller.organizationId, [email]);
    return queued.has(normalizeEmail(invite.email));
  }
}

/** Whom the invite lets in, as what. */
function roleOf({ scope, role }: CreateInvite): MintedInvite['role'] {
  if (scope === 'organization') return role ?? 'tutor';
  return scope === 'parent' ? 'parent' : 'student';
}
