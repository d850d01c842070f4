import { webhooks } from '../data/webhook-rows.js';
import { newAddress, type PeopleFixture, studentRow } from '../data/provisioning.js';
import { type JoinFixture, registration, STUDENT } from './join-fixture.js';
import { PeoplePages } from './people-pages.js';

/** A page that somebody can reach while joining: its path, and the Cookie header of the person who opens it. */
export interface JoinPage {
  path: string;
  cookie?: string;
  /** The button that leads to the page. */
  press?: string;
  /** Its heading. */
  heading: string;
}

const ACCEPT = 'Accept and join';

/** Every page of the joining flow, in every state, by name. */
export async function joinPages(desk: JoinFixture, provisioning: PeopleFixture): Promise<Record<string, JoinPage>> {
  const { make } = desk.portal;
  const classroom = await make.classroom(provisioning.id, { name: 'Year 9 Algebra' });
  const child = await make.student(provisioning.id, { user: { firstName: 'Tim' } });
  const person = await desk.person();
  const cookie = await desk.portal.session(person.id);
  const ended = async (statement: string) => {
    const email = newAddress();
    const token = await desk.invite(provisioning, { ...STUDENT, email });
    await make.query(`UPDATE invites SET ${statement} WHERE email = $1`, [email]);
    return `/join/${token}`;
  };
  const link = async (wish: object) => `/join/${await desk.invite(provisioning, wish)}`;
  const account = newAddress();
  await provisioning.inviteOne(studentRow({ email: account }));
  const { token } = await desk.mail(account);
  const tutor = await make.tutor(provisioning.id);
  const toTutor = await link({ scope: 'tutor_student', tutor_id: tutor.id });
  await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [tutor.id]);
  const former = await joined(desk, provisioning, STUDENT);
  await make.query(`UPDATE members SET status = 'archived', archived_at = now() WHERE user_id = $1`, [former.userId]);
  const student = await joined(desk, provisioning, STUDENT);
  const elsewhere = await joined(desk, await desk.provisioning(), STUDENT);
  const byCode = await link(STUDENT);
  const invited = await link({ scope: 'classroom', classroom_id: classroom.id });
  return {
    'code box': { path: '/join', heading: 'Enter your code' },
    'wrong code': { path: '/join/234567892345', heading: 'Enter your code' },
    'new person': { path: await link({ ...STUDENT, email: newAddress() }), heading: 'Join Demo Tutoring' },
    'new person by a code': { path: invited, heading: 'Join Demo Tutoring' },
    parent: { path: await link({ scope: 'parent', student_id: child.id }), heading: 'Join Demo Tutoring' },
    'signed in': { path: invited, cookie, heading: 'Join Demo Tutoring' },
    'another account': { path: await link({ ...STUDENT, email: newAddress() }), cookie, heading: 'Join Demo Tutoring' },
    'sign-in needed': { path: await link({ ...STUDENT, email: person.email }), heading: 'Join Demo Tutoring' },
    account: { path: `/join/${token}`, heading: 'Your account at Demo Tutoring' },
    accepted: { path: await ended('accepted_at = now()'), heading: 'This invitation has already been accepted' },
    expired: { path: await ended('expires_at = now()'), heading: 'This invitation has expired' },
    revoked: { path: await ended('revoked_at = now()'), heading: 'This invitation was withdrawn' },
    declined: { path: await ended('revoked_at = now(), declined_at = now()'), heading: 'This invitation was declined' },
    held: { path: await ended('held_at = now()'), heading: 'This invitation waits' },
    unproven: { path: await link({ ...STUDENT, role: 'admin', email: newAddress() }), heading: 'Open the link in the email' },
    moved: { path: await ended('user_id = (SELECT id FROM users ORDER BY id LIMIT 1)'), heading: 'This invitation was for another address' },
    gone: { path: toTutor, heading: 'This invitation no longer works' },
    archived: { path: byCode, cookie: former.cookie, press: ACCEPT, heading: 'Your membership has ended' },
    'another role': { path: await link({ ...STUDENT, role: 'tutor' }), cookie: student.cookie, press: ACCEPT, heading: 'You have another role here' },
    full: { path: await fullCode(desk, provisioning), cookie, press: ACCEPT, heading: 'No places left' },
    'parent waiting': { ...(await joined(desk, provisioning, { scope: 'parent', student_id: child.id })), heading: 'Waiting for approval' },
    unconfirmed: { path: byCode, cookie: elsewhere.cookie, press: ACCEPT, heading: 'Confirm your email address first' },
    unknown: { path: `/join/${'x'.repeat(43)}`, heading: 'This link does not work' },
    joined: { ...(await joined(desk, provisioning, STUDENT)), heading: 'Welcome to Demo Tutoring' },
    waiting: { ...(await joined(desk, provisioning, { ...STUDENT, role: 'tutor' })), heading: 'Waiting for approval' },
  };
}

/** The code of a classroom whose only place is taken. */
async function fullCode(desk: JoinFixture, provisioning: PeopleFixture): Promise<string> {
  const { id } = await desk.portal.make.classroom(provisioning.id);
  const code = await desk.invite(provisioning, { scope: 'classroom', classroom_id: id });
  await desk.accept(code, null, { signedInAs: (await desk.person()).id });
  await desk.portal.make.query('UPDATE invites SET places = 1 WHERE target_id = $1', [id]);
  return `/join/${code}`;
}

async function joined(desk: JoinFixture, provisioning: PeopleFixture, wish: object) {
  const visitor = desk.visitor();
  const email = newAddress();
  await visitor.post(`/join/${await desk.invite(provisioning, wish)}`, registration(email));
  const [login] = await desk.portal.make.query('SELECT id FROM users WHERE email_normalized = $1', [email]);
  return { path: '/join/done', cookie: visitor.header, userId: login!.id };
}

/** An organization with people and invites in every state, and its owner. */
export async function busyOffice(desk: JoinFixture): Promise<PeoplePages> {
  const pages = await PeoplePages.open(desk);
  const { provisioning } = pages;
  const { make } = desk.portal;
  const people = [['Grace', 'Hopper'], ['Alan', 'Turing'], ['Emmy', 'Noether']] as const; // prettier-ignore
  for (const [firstName, lastName] of people) await make.student(provisioning.id, { user: { firstName, lastName } });
  const tutor = await make.tutor(provisioning.id, { user: { firstName: 'Sofia', lastName: 'Kovalevskaya' } });
  await make.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [tutor.id]);
  const pending = await desk.person();
  await provisioning.inviteOne(studentRow({ email: pending.email, first_name: 'Ada', last_name: 'Byron' }));
  await joined(desk, provisioning, { ...STUDENT, role: 'tutor' });
  await desk.invite(provisioning, { ...STUDENT, email: newAddress() });
  await desk.invite(provisioning, { scope: 'tutor_student', tutor_id: tutor.id });
  await webhooks(make, provisioning.id);
  return pages;
}
