import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, normalizeEmail, RetryTransaction } from '@app/database';
import { Outbox } from '@app/jobs';
import { AuditLog } from '@app/audit';
import {
  CredentialNotices,
  ManagerNotices,
  AccountMails,
  isEmail,
  isName,
  Logins,
  type Provisioner,
  stateAsMember,
  stateAsParent,
  type Credential,
  Identities,
  type Identity,
  type NewPasskey,
  type UsedCredential,
  type UsedPasskey,
  type Hashing,
  refusedPassword,
  unlimited,
} from '@app/people';
import { MembershipNotices } from '../membership/membership-notices.js';
import { JoinEffects } from './join-effects.js';
import { type Joined, JoinRefused, type NotJoined } from './join-outcome.js';
import { type OpenedInvite, OpenedInvites } from './opened-invites.js';
import {
  type PreparedCredential,
  MOST_COMPARISONS,
  OtherPassword,
  prepare,
  usedCredential,
} from './prepared-credential.js';
import { Waiting } from './waiting.js';

/** Somebody who accepts with a password, or with a passkey created for this. Their login may not exist yet. */
export type Newcomer = {
  /** Used when the invite names none. */
  email?: string | null;
  /** For a new login. */
  firstName?: string;
  lastName?: string;
  /** Whether the password or passkey replaces all that opened an existing login so far. */
  replaces?: boolean;
} & ({ password: string } | { passkey: NewPasskey });

/** Who accepts. */
export type Joiner = { signedInAs: string } | UsedPasskey | Newcomer;

/** What is known of a person once their login is found or created. */
interface Arrived {
  identity: Identity;
  created: boolean;
  shown: UsedCredential | null;
}

/**
 * Accepts invites. An invite's own secret proves nothing, because the organization has it too. The second one, which only the mail contains,
 * proves the address: whoever has it takes over a login that nobody has proven before.
 */
@Injectable()
export class Joining {
  constructor(
    private readonly db: Database,
    private readonly opened: OpenedInvites,
    private readonly identities: Identities,
    private readonly logins: Logins,
    private readonly effects: JoinEffects,
    private readonly waiting: Waiting,
    private readonly mails: AccountMails,
    private readonly outbox: Outbox,
    private readonly audit: AuditLog,
    private readonly notices: CredentialNotices,
    private readonly managers: ManagerNotices,
    private readonly memberships: MembershipNotices,
  ) {}

  /** @param text token or code, however it was typed @param proof the second secret of a mail's link */
  async accept(
    text: string,
    proof: string | null,
    who: Joiner,
    requestId: string,
    hashing: Hashing = unlimited,
  ): Promise<Joined | NotJoined> {
    const found = await this.opened.find(text);
    if (!found) return { status: 'refused', problem: 'unknown' };
    if ('password' in who && refusedPassword(who.password) !== null) return { status: 'refused', problem: 'password' };
    // Only a guess: the transaction decides whose password it has to be.
    const guess = 'password' in who && who.email ? await this.identities.find(normalizeEmail(who.email)) : null;
    let salt = guess?.passwordSalt ?? null;
    for (let comparison = 1; comparison <= MOST_COMPARISONS; comparison++) {
      // Slow by design, so done while nothing is locked.
      const given = await prepare(who, salt, hashing);
      try {
        return await this.db.transaction(found, async () => {
          await this.logins.lockOrganization(found.organizationId);
          const invite = await this.opened.lock(found, proof);
          if (!invite) throw new JoinRefused('unknown');
          if (invite.state === 'accepted') return this.joinedBefore(invite, who, given);
          if (invite.state !== 'valid') throw new JoinRefused(invite.state);
          await this.effects.lockLessons(invite);
          return this.join(invite, await this.arrived(invite, who, given), requestId);
        });
      } catch (error) {
        if (error instanceof JoinRefused) return { status: 'refused', problem: error.problem };
        if (!(error instanceof OtherPassword)) throw error;
        salt = error.salt;
      }
    }
    return { status: 'refused', problem: 'sign_in' };
  }

  /** The button pressed twice: whoever has just accepted the invite, and shows it by their session or password, has joined. */
  private async joinedBefore(invite: OpenedInvite, who: Joiner, given: PreparedCredential): Promise<Joined> {
    const { organizationId } = invite;
    const identity =
      'signedInAs' in who
        ? await this.identities.lock(who.signedInAs)
        : await this.identities.lockByAddress(normalizeEmail(invite.email ?? ''));
    const shows = 'signedInAs' in who || (identity && (await this.isShown(identity, given)));
    if (!identity || !shows || !(await this.waiting.justCame(invite, identity.id))) throw new JoinRefused('accepted');
    const { id: userId, verified } = identity;
    const { waits } = await this.effects.status(organizationId, userId, invite.role === 'parent');
    const shown = 'signedInAs' in who ? null : { passwordHash: given.hash! };
    const told = { created: false, confirmationMailed: !verified && this.outbox.sendsMail, repeated: true };
    return { status: 'joined', userId, organizationId, verified, waits, shown, ...told };
  }

  private arrived(invite: OpenedInvite, who: Joiner, given: PreparedCredential): Promise<Arrived> {
    if ('signedInAs' in who) return this.signedIn(invite, who.signedInAs);
    return 'passkeyId' in who ? this.withPasskey(invite, who) : this.arrive(invite, who, given);
  }

  /** A passkey of the invited login shows that this is the person who has used the login so far. */
  private async withPasskey(invite: OpenedInvite, { userId, credentialId }: UsedPasskey): Promise<Arrived> {
    const identity = await this.identities.lockByAddress(normalizeEmail(invite.email ?? ''));
    if (identity?.id !== userId) throw new JoinRefused('passkey');
    const arrived = { identity, created: false, shown: { credentialId } };
    if (!invite.proven || identity.verified) return arrived;
    if (!(await this.identities.prove(identity, invite, null))) throw new JoinRefused('passkey');
    return { ...arrived, identity: { ...identity, verified: true } };
  }

  private async signedIn(invite: OpenedInvite, signedInAs: string): Promise<Arrived> {
    const identity = invite.email
      ? await this.identities.lockByAddress(normalizeEmail(invite.email))
      : await this.identities.lock(signedInAs);
    if (identity?.id !== signedInAs) throw new JoinRefused('other_account');
    // A session of an unproven login does not show who it belongs to, so the proof requires a credential.
    if (invite.proven && !identity.verified) throw new JoinRefused('password');
    return { identity, created: false, shown: null };
  }

  private async arrive(invite: OpenedInvite, who: Newcomer, given: PreparedCredential): Promise<Arrived> {
    const credential = given.credential!;
    const email = invite.email ?? who.email?.trim() ?? '';
    if (!isEmail(email)) throw new JoinRefused('address');
    const identity = await this.identities.lockByAddress(normalizeEmail(email));
    if (!identity) return this.register(invite, { ...who, email }, credential);
    const known = await this.isShown(identity, given);
    const arrived = {
      identity,
      created: false,
      shown: known ? { passwordHash: given.hash! } : usedCredential(credential),
    };
    if (invite.proven && !identity.verified) {
      // A typing error must not change a password, which would also undo what the login has accepted elsewhere.
      if (identity.used && !known && !who.replaces) throw new JoinRefused('other_credential');
      if (!(await this.identities.prove(identity, invite, known ? null : credential))) throw new JoinRefused('passkey');
      if (!known) await this.tellOf(invite, identity, credential);
      return { ...arrived, identity: { ...identity, verified: true } };
    }
    if (known) return arrived;
    // An invite to this address may set the first credential of a login that the organization created.
    const first = invite.email !== null && (await this.identities.setFirst(identity.id, credential));
    if (!first) throw new JoinRefused('sign_in');
    await this.tellOf(invite, identity, credential);
    return arrived;
  }

  /** Whether the given password is the login's. @throws OtherPassword when it was hashed for another one */
  private async isShown({ id, passwordSalt }: Identity, { hash, salt }: PreparedCredential): Promise<boolean> {
    if (hash === null) return false;
    if (passwordSalt !== salt) throw new OtherPassword(passwordSalt);
    return this.identities.isPassword(id, hash);
  }

  /** Welcomes somebody with their first credential; otherwise notifies the address that the login has a new one. */
  private async tellOf({ organization, role }: OpenedInvite, login: Identity, credential?: Credential): Promise<void> {
    const changed = credential && 'passkey' in credential ? 'passkey_added' : 'password_changed';
    const welcome = this.notices.welcome(organization, login.id, login.firstName, role);
    await this.db.query(sql`SELECT ${login.used ? this.notices.mail(changed, login.id) : welcome}`);
  }

  private async register(
    invite: OpenedInvite,
    { email, firstName = '', lastName = '' }: { email: string; firstName?: string; lastName?: string },
    credential: Credential,
  ): Promise<Arrived> {
    const names = { firstName: firstName.trim(), lastName: lastName.trim() };
    if (!Object.values(names).every(isName)) throw new JoinRefused('name');
    const known = 'passkey' in credential ? credential.passkey.loginId : null;
    // The id may be taken by the login that had this address when the passkey was created and has since changed it.
    const id = known === null || (await this.identities.lock(known)) ? uuidv7() : known;
    if (!(await this.logins.add([{ id, ...names, email, phone: null }]))) throw new RetryTransaction();
    const login = { id, ...names, email, address: normalizeEmail(email), passwordSalt: null, used: false };
    const identity = { ...login, verified: false, elsewhere: false };
    const done = invite.proven
      ? await this.identities.prove(identity, invite, credential)
      : await this.identities.setFirst(id, credential);
    if (!done) throw new JoinRefused('passkey');
    return { identity: { ...identity, verified: invite.proven }, created: true, shown: usedCredential(credential) };
  }

  private async join(invite: OpenedInvite, { identity, created, shown }: Arrived, requestId: string): Promise<Joined> {
    const { organizationId } = invite;
    const as = invite.role === 'parent' ? 'parent' : 'member';
    const by: Provisioner = { organizationId, organization: invite.organization, keyId: null };
    // Without mail no address can be proven, so being signed in must suffice.
    const trusted = !this.outbox.sendsMail;
    const approval = await this.tie(invite, identity);
    if (approval && !identity.verified && identity.elsewhere && !trusted) throw new JoinRefused('unconfirmed');
    if (approval === 'new') await this.tellApprovers(invite, identity);
    if (!approval) {
      const { accepted } = await this.effects.status(organizationId, identity.id, as === 'parent');
      if (!(await this.identities.accept(identity.id, as, trusted))) throw new JoinRefused('unconfirmed');
      if (invite.role === 'admin' && !accepted)
        await this.memberships.managerAdded(organizationId, { userId: invite.createdBy }, identity.id, invite.role);
      await this.effects.apply(invite, identity.id);
      // An invite to an address implies approval.
      if (invite.email !== null && as === 'member') await this.waiting.settle(organizationId, identity.id, as);
    }
    await this.effects.close(invite);
    const { id: invite_id, scope, role } = invite;
    const { id: userId, verified, email: to, firstName } = identity;
    const waits = approval !== false;
    const confirmationMailed = !verified && (await this.mails.confirm(by, { role, id: userId, to, firstName, waits }));
    if (created && verified && !waits) await this.tellOf(invite, identity);
    const details = { invite_id, user_id: userId, scope, role, created, verified };
    await this.audit.add(organizationId, { userId, requestId }, 'join', details);
    const told = { created, confirmationMailed, repeated: false };
    return { status: 'joined', userId, organizationId, verified, waits, shown, ...told };
  }

  /** Adds the person in the invite's role, pending acceptance. @returns whether an owner or admin has to approve, and has been `asked` before */
  private async tie(invite: OpenedInvite, identity: Identity): Promise<false | 'new' | 'asked'> {
    const { organizationId, role, email } = invite;
    const { id } = identity;
    const { archivedAt, waits, accepted, moved } = await this.effects.status(organizationId, id, role === 'parent');
    if (invite.scope === 'account') {
      if (archivedAt) throw new JoinRefused('archived');
      // A mere confirmation of the address is not how somebody came.
      if (!waits && !accepted) await this.waiting.record(invite, id, false);
      return waits && 'asked';
    }
    // The person was archived after the invite was created.
    if (archivedAt && archivedAt > invite.createdAt) throw new JoinRefused('archived');
    if (moved) return 'asked';
    const login = (await this.logins.find(organizationId, [identity.address])).get(identity.address);
    const state = role === 'parent' ? stateAsParent(login) : stateAsMember(role, login);
    if (state.as === 'refused') throw new JoinRefused('role');
    // A code may have been passed on: it does not let archived people back in.
    if (state.as === 'returning' && email === null) throw new JoinRefused('archived');
    if (invite.needsOwner) {
      const asked = await this.effects.waitForOwner(invite, identity);
      await this.waiting.record(invite, id, asked !== false);
      return asked;
    }
    const newcomer = state.as === 'new' && !login?.member;
    const entry = email === null ? await this.waiting.entry(invite, id, newcomer) : 'joins';
    if (entry === 'full' || entry === 'crowded') throw new JoinRefused(entry);
    const asks = entry === 'waits' || (waits && email === null);
    if (role === 'parent') await this.effects.tieParent(organizationId, identity);
    else await this.effects.tieMember(invite, identity, asks);
    const isNew = await this.waiting.record(invite, id, asks);
    if (!asks) return false;
    // A parent asks for each child.
    return isNew && (role === 'parent' || !waits) ? 'new' : 'asked';
  }

  /** A tutor or parent is for any owner or admin to decide about; of an admin, or of a code that too many use, owners have to know. */
  private async tellApprovers(invite: OpenedInvite, identity: Identity): Promise<void> {
    const { organizationId, role } = invite;
    if (role === 'admin') return this.memberships.managerWaits(organizationId, identity, role);
    const flood = role === 'student';
    if (flood && !(await this.waiting.isFlood(invite))) return;
    await this.managers.tell(
      organizationId,
      flood
        ? { kind: 'code_flooded', page: '/people/codes', role, owners: true }
        : { kind: 'approval_request', page: '/people?status=waiting', role },
    );
  }
}
