import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { v7 as uuidv7 } from 'uuid';
import {
  Declining,
  type InvitePage,
  type Joined,
  type Joiner,
  Joining,
  type JoinProblem,
  type NotJoined,
  OpenedInvites,
} from '@app/access';
import { type Hashing, Identities, refusedPassword, isCode, isEmail } from '@app/people';
import { normalizeEmail } from '@app/database';
import { Outbox } from '@app/jobs';
import { networkOf } from '@app/serving';
import { PasskeyRegistration } from '../passkeys/passkey-registration.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { type AttemptLimit, AttemptLimits } from '../web/attempt-limits.js';
import { Form } from '../web/form.js';
import { problemsOfNames } from '../web/names.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, seeOther, type SeeOther } from '../web/pages.js';
import { PasswordAttempts } from '../web/password-attempts.js';
import { PasswordWork } from '../web/password-work.js';
import { wasShownToAnother } from '../web/session.guard.js';
import { Sessions } from '../web/sessions.js';
import { readEntered } from './entered-secret.js';
import { type InviteForm, invitePage, isInUse, taskOf } from './invite-page.js';
import { JoinCookie } from './join-cookie.js';
import { maskAddress } from './mask-address.js';

/** Enough for a large school's network on one morning, but not for creating accounts in bulk. */
const JOINED_FROM_NETWORK: AttemptLimit = { purpose: 'joined from', most: 1_000, minutes: 60 };
/** Beyond it, wrong codes are refused, and right ones still work. A class in one room makes typing errors. */
const WRONG_CODES: AttemptLimit = { purpose: 'wrong code from', most: 20, minutes: 10 };

/** Problems that the form shows at one of its fields. */
const AT_FIELDS: Partial<Record<JoinProblem, Partial<InviteForm['errors']>>> = {
  address: { email: 'Enter a valid email address, for example mia@example.org.' },
  name: { first_name: 'Enter your first name.', last_name: 'Enter your last name.' },
  password: { password: 'Choose a password.' },
  passkey: { passkey: 'This passkey belongs to another account. Sign in with it, or choose a password.' },
  other_credential: { replaces: true },
};

@Injectable()
export class JoinService {
  constructor(
    private readonly opened: OpenedInvites,
    private readonly joining: Joining,
    private readonly declining: Declining,
    private readonly identities: Identities,
    private readonly limits: AttemptLimits,
    private readonly attempts: PasswordAttempts,
    private readonly sessions: Sessions,
    private readonly cookie: JoinCookie,
    private readonly outbox: Outbox,
    private readonly work: PasswordWork,
    private readonly registration: PasskeyRegistration,
    private readonly passkeys: PasskeysService,
  ) {}

  /** The page of an invite in any state. */
  async show(text: string, request: Request): Promise<Page> {
    const { secret, invite } = await this.open(text, request);
    return invite?.state === 'valid'
      ? invitePage(invite, secret, request.session ?? null)
      : closed(invite?.state ?? 'unknown', secret, invite);
  }

  async accept(text: string, request: Request): Promise<Page | SeeOther> {
    const { session = null } = request;
    const form = new Form(request.body);
    const { secret, invite, proof } = await this.open(text, request);
    const values = fieldsOf(form);
    if (invite?.state === 'accepted' && (session || values.password !== '')) {
      const who = session ? { signedInAs: session.userId } : { email: invite.email, password: values.password };
      const before = await this.join(secret, proof, who, invite, request);
      if (before.status === 'joined') return this.welcome(before, invite, request);
    }
    if (invite?.state !== 'valid') return closed(invite?.state ?? 'unknown', secret, invite);
    const task = taskOf(invite, session);
    const again = (errors: InviteForm['errors'], changed = false) =>
      invitePage(invite, secret, session, { ...values, errors }, changed);
    const [person] = form.list('person');
    if (wasShownToAnother(person, session)) return again({}, true);
    if (task === 'sign_in' || task === 'switch') return invitePage(invite, secret, session);
    const errors = task === 'accept' ? {} : errorsOf(invite, values);
    if (Object.keys(errors).length > 0) return again(errors);
    const joiner =
      task === 'accept' ? { signedInAs: session!.userId } : await this.joinerOf(invite, secret, form, request);
    const outcome = await this.join(secret, proof, joiner, invite, request);
    if (outcome.status === 'joined') return this.welcome(outcome, invite, request);
    const { problem } = outcome;
    const atFields = AT_FIELDS[problem];
    if (atFields) return again(atFields);
    const email = invite.email ?? values.email;
    if (problem === 'sign_in') return page('join/sign-in', { invite, secret, email }, 409);
    if (problem === 'other_account') return invitePage(invite, secret, session);
    return closed(problem, secret, invite);
  }

  async decline(text: string, request: Request): Promise<Page | SeeOther> {
    const { session = null } = request;
    const form = new Form(request.body);
    const { secret, invite } = await this.open(text, request);
    if (!invite) return closed('unknown', secret, invite);
    const { state } = invite;
    if (state !== 'valid' && state !== 'unproven') return closed(state, secret, invite);
    const [person] = form.list('person');
    if (state === 'valid' && wasShownToAnother(person, session)) {
      return invitePage(invite, secret, session, undefined, true);
    }
    const by = { userId: session?.userId ?? null, requestId: request.id };
    const outcome = await this.declining.decline(secret, by, form.text('reason') === 'not_my_child');
    if (outcome.status === 'refused') return closed(outcome.problem, secret, invite);
    const { name: organization, contact } = invite.organization;
    const { closed: closes, belongs } = outcome;
    this.cookie.set(request, { step: 'declined', organization, contact, closed: closes, belongs });
    return seeOther('/join/declined');
  }

  /** The browser's options for creating a passkey for whoever fills in this invite's form, which is sent along. */
  async passkeyOptions(text: string, request: Request): Promise<object> {
    const { secret, invite } = await this.open(text, request);
    const task = invite?.state === 'valid' && taskOf(invite, request.session ?? null);
    // A login that is in use keeps its credentials; its person can add a passkey once signed in.
    const first = task === 'register' || (task === 'password' && !isInUse(invite!));
    if (!invite || !first) throw PageError.notFound();
    const values = fieldsOf(new Form(request.body));
    // Check first, so that no useless passkey is created.
    const [problem] = Object.values(errorsOf(invite, { ...values, credential: 'to come' }));
    if (problem) {
      request.res!.status(422);
      return { problem };
    }
    const name = `${values.first_name} ${values.last_name}`;
    const who = { loginId: invite.holderId ?? uuidv7(), email: invite.email ?? values.email, name };
    return this.registration.options(who, [], `joining with ${secret}`, request);
  }

  /** Whoever filled in the form, with their password, a new passkey or an existing one. */
  private async joinerOf(invite: InvitePage, secret: string, form: Form, request: Request): Promise<Joiner> {
    const { first_name: firstName, last_name: lastName, email, password, credential, assertion } = fieldsOf(form);
    if (assertion !== '') return this.passkeys.use(form.json('assertion'), request);
    const named = { email: invite.email ?? email, firstName, lastName, replaces: form.text('replaces') === 'yes' };
    if (credential === '') return { ...named, password };
    const passkey = await this.registration.verify(form.json('credential'), `joining with ${secret}`, request);
    return { ...named, passkey };
  }

  /** Looks up the invite of a code or token, with the proof that this browser has for it. */
  private async open(text: string, request: Request) {
    const entered = readEntered(text);
    if (!entered) return { secret: text, invite: null, proof: null };
    const { secret } = entered;
    const proof = this.cookie.proofOf(request, secret);
    const found = await this.opened.look(secret, proof);
    if (!isCode(secret)) return { secret, invite: found, proof };
    // Reveal nothing about an expired code: a guess must not learn that it was one.
    const invite = found?.state === 'valid' ? found : null;
    if (!invite) await this.limits.take(WRONG_CODES, networkOf(request.ip));
    return { secret, invite, proof };
  }

  private async join(secret: string, proof: string | null, joiner: Joiner, invite: InvitePage, request: Request) {
    const network = networkOf(request.ip);
    const hashing: Hashing = (work) => this.work.run(network, work);
    const accept = () => this.joining.accept(secret, proof, joiner, request.id, hashing);
    const address = 'password' in joiner ? normalizeEmail(invite.email ?? joiner.email ?? '') : null;
    // The password of a login can be guessed here as well as at sign-in, so both are counted together.
    const guessable = address !== null && (await this.identities.find(address)) !== null;
    const work = guessable
      ? () => this.attempts.check(request, { address, next: `/join/${secret}` }, accept, showsNoPassword)
      : accept;
    return this.limits.attempt([[JOINED_FROM_NETWORK, network]], work, ({ status }) => status === 'joined');
  }

  /** Signs the person in, always with a new secret. */
  private async welcome(
    { userId, organizationId, waits, confirmationMailed, shown, repeated }: Joined,
    { organization, role }: InvitePage,
    request: Request,
  ): Promise<SeeOther> {
    if (shown) await this.sessions.open(request, userId, shown);
    else if (!repeated) await this.sessions.renew(request);
    const told = { organization: organization.name, role, waits, confirmationMailed, mails: this.outbox.sendsMail };
    const { contact } = organization;
    this.cookie.set(request, { step: 'joined', userId, organizationId, contact, ...told });
    return seeOther('/join/done');
  }
}

/** The form, as it was typed. */
type Values = Omit<InviteForm, 'errors'> & {
  password: string;
  /** The passkey that was created instead of a password, as JSON. */
  credential: string;
  /** The use of an existing passkey of the account, as JSON. */
  assertion: string;
};

function fieldsOf(form: Form): Values {
  const short = (name: string) => form.text(name).slice(0, 300);
  const [first_name, last_name, email] = [short('first_name'), short('last_name'), short('email')];
  const [password, credential, assertion] = ['password', 'credential', 'assertion'].map((name) => form.exact(name));
  return { first_name, last_name, email, password: password!, credential: credential!, assertion: assertion! };
}

function errorsOf({ needs }: InvitePage, values: Values): InviteForm['errors'] {
  const errors: InviteForm['errors'] = {};
  const refused = values.credential === '' && values.assertion === '' ? refusedPassword(values.password) : null;
  if (needs === 'either' || needs === 'registration') {
    Object.assign(errors, problemsOfNames(values.first_name, values.last_name));
  }
  if (needs === 'either') {
    if (values.email === '') errors.email = 'Enter your email address.';
    else if (!isEmail(values.email)) Object.assign(errors, AT_FIELDS.address);
  }
  if (refused) errors.password = refused;
  return errors;
}

/** Whether the address has a login that the password does not open. */
function showsNoPassword(outcome: Joined | NotJoined): boolean {
  return outcome.status === 'refused' && ['sign_in', 'other_credential', 'accepted'].includes(outcome.problem);
}

/** The page that says why an invite cannot be used, and what to do instead. */
function closed(problem: JoinProblem, secret: string, invite: InvitePage | null): Page {
  if (problem === 'unknown' && isCode(secret)) {
    const text = 'This code is wrong or no longer valid. Check every character, or ask for a new code.';
    return page('join/code', { code: secret, problem: text }, 404);
  }
  const status =
    problem === 'unknown' ? 404 : ['unconfirmed', 'role', 'unproven', 'full', 'crowded'].includes(problem) ? 409 : 410;
  const masked = invite?.email && maskAddress(invite.email);
  return page('join/closed', { problem, invite, secret, masked }, status);
}
