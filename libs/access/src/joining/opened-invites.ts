import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql, { empty, raw } from 'sql-template-tag';
import { Database, normalizeEmail, type Tables } from '@app/database';
import { Outbox } from '@app/jobs';
import {
  Invites,
  InviteTargets,
  isCode,
  readSecret,
  type Contact,
  type Credentials,
  Identities,
  type Identity,
} from '@app/people';

/**
 * `moved`: its login has changed its address since. `gone`: its target no longer exists. In both cases the person needs a
 * new invite. `unproven`: valid, but only with the second secret of its mail. `held`: whoever made it manages no longer, so an
 * owner has to confirm it.
 */
export type InviteState =
  'valid' | 'held' | 'unproven' | 'accepted' | 'declined' | 'revoked' | 'expired' | 'moved' | 'gone';

/** An invite that somebody opened with its secret. */
export interface OpenedInvite {
  id: string;
  organizationId: string;
  organization: { name: string; timeZone: string; contact: Contact };
  scope: Tables['invites']['scope'];
  role: Tables['invites']['role'];
  targetId: string;
  subjectId: string | null;
  email: string | null;
  /** The login that had the address when the invite was created. */
  loginId: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  state: InviteState;
  /** Whether it was opened with the mail's second secret too, by somebody who reads the mail of its address. */
  proven: boolean;
  /** The second secret, if it is right. */
  proof: string | null;
  /** Who made it in the portal. */
  createdBy: string | null;
  /** An admin's, which nobody made who is an owner now: an owner has to approve. */
  needsOwner: boolean;
}

/** An invite as shown on its page, and what the person has to do to accept it. */
export interface InvitePage extends OpenedInvite {
  /** The name of the classroom, group or tutor, or the first name of the child. */
  target: string | null;
  /** Of a parent: the first names of the children. */
  children: string[];
  /** The login that has the invite's address now, if any. */
  holderId: string | null;
  /** Of an account's link: whether the person belongs to the organization already. */
  belongs: boolean;
  /**
   * - `either`: register, or sign in
   * - `registration`: nobody has this address yet; names and a password or passkey create the login
   * - `password`: the login exists; see `credentials`
   * - `sign_in`: the person must sign in to the login of this address
   */
  needs: 'either' | 'registration' | 'password' | 'sign_in';
  /** What opens the login so far, where `needs` is `password`. It confirms the login; something new replaces all of it if the person says so. */
  credentials: Credentials;
}

/** Finds invites by their secrets. */
@Injectable()
export class OpenedInvites {
  constructor(
    private readonly db: Database,
    private readonly invites: Invites,
    private readonly targets: InviteTargets,
    private readonly identities: Identities,
    private readonly outbox: Outbox,
  ) {}

  /**
   * The page of an invite. Opening consumes nothing: mail scanners open links. A closed code gets the same answer, in the same time, as an unknown
   * one. @param text token or code, however it was typed @param proof the second secret of a mail's link
   */
  async look(text: string, proof: string | null): Promise<InvitePage | null> {
    const found = await this.find(text);
    if (!found || (found.closed && isCode(readSecret(text)))) return null;
    const read = async () => {
      const invite = await this.open(found, proof, false);
      if (!invite) return null;
      const login = await this.loginOf(invite, false);
      const named = invite.state === 'valid';
      const target = named ? await this.targets.nameOf(invite.organizationId, invite.scope, invite.targetId) : null;
      const children = named && invite.role === 'parent' ? await this.childrenOf(invite, target) : [];
      const needs = needsOf(invite, login);
      const credentials =
        needs === 'password' ? await this.identities.credentialsOf(login!) : { password: false, passkeys: false };
      const belongs = invite.scope === 'account' && (await this.belongs(invite));
      return { ...invite, target, children, holderId: login?.id ?? null, belongs, needs, credentials };
    };
    // One snapshot: if somebody accepted between two of the reads, the page would ask for a sign-in.
    return this.db.transaction(found, read, 'REPEATABLE READ');
  }

  /** Looks up the organization of the invite with this secret, and whether the invite is closed. */
  async find(text: string): Promise<{ id: string; organizationId: string; closed: boolean } | null> {
    const hash = this.invites.hashOf(readSecret(text));
    const [found = null] = await this.db.lookUp<{ id: string; organizationId: string; closed: boolean }>(
      sql`SELECT id, organization_id AS "organizationId", closed FROM invite_by_hash(${hash})`,
    );
    return found;
  }

  /** The invite, with its login locked until the ambient transaction ends. */
  lock(found: { id: string; organizationId: string }, proof: string | null): Promise<OpenedInvite | null> {
    return this.open(found, proof, true);
  }

  private async open(
    { id, organizationId }: { id: string; organizationId: string },
    proof: string | null,
    lock: boolean,
  ): Promise<OpenedInvite | null> {
    const [row] = await this.db.query<Omit<OpenedInvite, 'proven' | 'proof'> & { proofHash: Buffer | null }>(sql`
      SELECT i.id, i.organization_id AS "organizationId", i.scope, i.role, i.target_id AS "targetId", i.subject_id AS "subjectId",
        i.email, i.user_id AS "loginId", i.created_at AS "createdAt", i.expires_at AS "expiresAt", i.proof_hash AS "proofHash",
        json_build_object('name', o.name, 'timeZone', o.time_zone, 'contact', contact_of(o)) AS organization,
        i.created_by AS "createdBy", i.scope = 'organization' AND i.role = 'admin' AND NOT EXISTS (SELECT FROM members m
          WHERE m.organization_id = i.organization_id AND m.user_id = i.created_by AND m.role = 'owner'
            AND m.status = 'accepted') AS "needsOwner",
        CASE WHEN accepted_at IS NOT NULL THEN 'accepted' WHEN declined_at IS NOT NULL THEN 'declined' WHEN revoked_at IS NOT NULL THEN 'revoked'
          WHEN expires_at <= now() THEN 'expired' WHEN held_at IS NOT NULL THEN 'held' ELSE 'valid' END AS state
      FROM invites i JOIN organizations o ON o.id = i.organization_id
      WHERE i.organization_id = ${organizationId} AND i.id = ${id} ${lock ? sql`FOR NO KEY UPDATE OF i` : empty}`);
    if (!row) return null;
    const { proofHash, ...read } = row;
    const proven = proof !== null && proofHash !== null && timingSafeEqual(this.invites.hashOf(proof), proofHash);
    const invite: OpenedInvite = { ...read, proven, proof: proven ? proof : null };
    if (invite.state !== 'valid') return invite;
    const moved = invite.loginId !== null && (await this.loginOf(invite, lock))?.id !== invite.loginId;
    if (moved) return { ...invite, state: 'moved' };
    const there = await this.targets.has(organizationId, invite.scope, invite.targetId);
    if (!there) return { ...invite, state: 'gone' };
    // Without mail nothing can be proven: an owner's approval must do.
    return invite.needsOwner && !proven && this.outbox.sendsMail ? { ...invite, state: 'unproven' } : invite;
  }

  /** The child of a parent's code, or those whose parent an account's link is for. */
  private childrenOf({ organizationId, scope, targetId }: OpenedInvite, target: string | null): Promise<string[]> {
    if (scope !== 'account') return Promise.resolve(target === null ? [] : [target]);
    return this.targets.childrenOf(organizationId, targetId, 'first_name');
  }

  private async belongs({ organizationId, role, targetId }: OpenedInvite): Promise<boolean> {
    const table = raw(role === 'parent' ? 'parents' : 'members');
    const rows = await this.db.query(sql`
      SELECT FROM ${table} WHERE organization_id = ${organizationId} AND user_id = ${targetId} AND status = 'accepted'`);
    return rows.length > 0;
  }

  private loginOf({ email }: OpenedInvite, lock: boolean): Promise<Identity | null> {
    if (email === null) return Promise.resolve(null);
    const address = normalizeEmail(email);
    return lock ? this.identities.lockByAddress(address) : this.identities.readByAddress(address);
  }
}

function needsOf({ email, proven }: OpenedInvite, login: Identity | null): InvitePage['needs'] {
  if (email === null) return 'either';
  if (!login) return 'registration';
  const untouched = !login.used && !login.elsewhere;
  return !login.verified && (proven || untouched) ? 'password' : 'sign_in';
}
