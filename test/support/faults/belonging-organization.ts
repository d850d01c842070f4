import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { SCOPES } from '@app/access';
import { lockNumber } from '@app/database';
import { Invites } from '@app/people';
import { newAddress, PeopleFixture } from '../data/provisioning.js';
import { Visitor } from '../portal/visitor.js';
import { mailsTo } from '../worker/mailbox.js';
import type { IdentityFixture } from './identity-model.js';
import { inviteText, type Observed } from './belonging-facts.js';
import { Belonging } from './belonging-oracle.js';
import type { Act, CodeKind, Role, State } from './belonging-state.js';

interface Person {
  id: string;
  email: string;
  visitor: Visitor;
}

/** The roles of the first people at the start; the others come from outside. The third has neither password nor passkey. */
const AT_START: Role[] = ['owner', 'owner', 'owner', 'admin', 'tutor'];
const CAST = 8;
const WITHOUT_CREDENTIALS = 2;
export const signsIn = (person: number): boolean => person !== WITHOUT_CREDENTIALS;

/** A real organization, with what people do in it over HTTP. */
export class BelongingStage {
  readonly people: Person[] = [];
  /** Keys that people made, with their texts. */
  readonly keys: { by: number; text: string }[] = [];
  /** What opens each invite, by its id. */
  readonly secrets = new Map<string, { secret: string; proof: string }>();

  private constructor(
    private readonly stage: IdentityFixture,
    readonly school: PeopleFixture,
    readonly slug: string,
    /** Another organization, to which some of the people belong, too. */
    readonly other: PeopleFixture,
    private readonly child: string,
    private readonly classroom: string,
  ) {}

  static async open(stage: IdentityFixture): Promise<[BelongingStage, Belonging]> {
    const { api, portal, make } = stage;
    const [school, other] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
    const { slug } = await make.find('organizations', school.id);
    const { id: child } = await make.student(school.id);
    const { id: classroom } = await make.classroom(school.id);
    const opened = new BelongingStage(stage, school, slug, other, child, classroom);
    await opened.add(CAST);
    const roles = AT_START.map((role, place) => ({ organizationId: school.id, userId: opened.people[place]!.id, role, status: 'accepted' as const }));
    await make.rows('members', roles);
    const elsewhere = [0, 5].map((place) => ({ organizationId: other.id, userId: opened.people[place]!.id, role: 'admin' as const, status: 'accepted' as const })); // prettier-ignore
    await make.rows('members', elsewhere);
    await portal.app.get(Invites).ensurePermanentCodes(school.id);
    for (const wish of [
      { scope: 'classroom', classroom_id: classroom },
      { scope: 'parent', student_id: child },
    ])
      await opened.byKey(school.key, wish);
    return [opened, opened.begun()];
  }

  private begun(): Belonging {
    const members: State['members'] = new Map(AT_START.map((role, who) => [who, { role, status: 'accepted', waits: false, made: 0, gone: 0 }]));
    const state: State = { clock: 0, members, parents: new Map(), inClass: new Set(), invites: [], keys: new Map() };
    const belonging = new Belonging(state, signsIn);
    for (const kind of ['student', 'tutor', 'class', 'parent'] as const) belonging.code(kind, null);
    return belonging;
  }

  /** Adds people who can sign in and belong to nothing. @returns their numbers */
  async add(count: number): Promise<number[]> {
    const { make, portal } = this.stage;
    const first = this.people.length;
    const users = await make.rows(
      'users',
      Array.from({ length: count }, () => {
        const email = newAddress();
        return { email, emailNormalized: email, firstName: 'Mia', lastName: 'Nguyen', emailVerifiedAt: new Date() };
      }),
    );
    const able = users.map(({ id }) => id).filter((_, place) => signsIn(first + place));
    await make.query(
      `INSERT INTO credentials (user_id, password_hash, sessions_valid_from) SELECT id, 'x', now() - interval '1 day' FROM unnest($1::uuid[]) id`,
      [able],
    );
    for (const { id, email } of users) this.people.push({ id, email, visitor: new Visitor(portal, await portal.session(id)) });
    return users.map((_, place) => first + place);
  }

  private byKey(key: string, wish: object) {
    return this.school.send('post', '/v1/invites', wish, { key }).then(({ status, body }) => {
      const { id, token } = body as { id: string; token: string };
      if (status === 201) this.secrets.set(id, { secret: token, proof: '' });
    });
  }

  /** Does something over HTTP, whether or not it is allowed. @throws Error for an answer that means a fault of the server */
  async do(act: Act, { s }: Belonging): Promise<void> {
    const { people, slug, school } = this;
    const page = `/o/${slug}/people`;
    /** Joining gives the browser a new session: a form that was under way with the old one is sent once more. */
    const post = async (person: number, path: string, form: Record<string, string>) => {
      const { visitor } = people[person]!;
      const answer = await visitor.post(path, form);
      return answer.headers.location?.startsWith('/sign-in') ? visitor.post(path, form) : answer;
    };
    const target = 'who' in act ? people[act.who]! : null;
    const invite = 'invite' in act ? s.invites[act.invite]! : null;
    let answer: { status: number; text?: string; headers: Record<string, string> };
    switch (act.do) {
      case 'join':
      case 'declineMail': {
        const { secret, proof } = this.secrets.get(invite!.id!)!;
        if (proof) await people[act.who]!.visitor.get(`/join/${secret}?proof=${proof}`);
        answer = await post(act.who, `/join/${secret}${act.do === 'join' ? '' : '/decline'}`, {});
        break;
      }
      case 'answer':
        answer = await post(act.who, `/organizations/${school.id}/${act.accept ? 'accept' : 'decline'}`, {});
        break;
      case 'invite':
        answer = await post(act.by, `${page}/invite`, { role: act.role, first_name: 'Mia', last_name: 'Nguyen', email: target!.email });
        break;
      case 'keyInvite': {
        const key = act.by === null ? school.key : this.keys.findLast(({ by }) => by === act.by)?.text;
        if (key) await this.byKey(key, { scope: 'organization', role: act.role, email: target!.email });
        return;
      }
      case 'decide':
        answer = await post(act.by, `${page}/${act.as}s/${target!.id}/${act.approve ? 'approve' : 'decline'}`, {});
        break;
      case 'remove':
        answer = await post(act.by, `${page}/${target!.id}/remove`, {});
        break;
      case 'keyRemove':
        answer = await school.post(`/v1/${{ student: 'students', staff: 'tutors', parent: 'parents' }[act.as]}/${target!.id}/offboard`, {});
        break;
      case 'leave':
        answer = await post(act.who, `/organizations/${school.id}/leave`, {});
        break;
      case 'role':
        answer = await post(act.by, `${page}/${target!.id}/role`, { role: act.role });
        break;
      case 'replace':
        answer = await post(act.by, `${page}/codes/${invite!.id}/replace`, {});
        this.lastShown = /\/join\/([2-9A-Z]{12})"/.exec(answer.text ?? '')?.[1] ?? this.lastShown;
        break;
      case 'switchOff':
        answer = await post(act.by, `${page}/codes/${invite!.id}/switch-off`, {});
        break;
      case 'undo':
        answer = await post(act.by, `${page}/codes/${invite!.id}/undo`, { since: act.moment });
        break;
      case 'makeKey':
        answer = await this.makeKey(act.by);
        break;
    }
    if (answer.status >= 500) throw new Error(`${JSON.stringify(act)} was answered ${answer.status}`);
  }

  /** Starts acts that wait for the organization, and lets them go once each has passed the page's own checks. */
  async together(acts: (() => Promise<unknown>)[]): Promise<void> {
    const holder = this.stage.make.db.createQueryRunner();
    const key = lockNumber(`provisioning of ${this.school.id}`);
    await holder.startTransaction();
    try {
      await holder.query('SELECT pg_advisory_xact_lock($1)', [key]);
      const done: Promise<unknown>[] = [];
      for (const act of acts) {
        done.push(act());
        void Promise.allSettled(done);
        for (let tries = 0; tries < 10; tries++) {
          const rows: unknown = await holder.query(
            `SELECT count(*)::integer AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
               AND (classid::bigint << 32 | objid::bigint) = $1`,
            [key],
          );
          if ((rows as { waiting: number }[])[0]!.waiting >= done.length) break;
          await setTimeout(10);
        }
      }
      await holder.commitTransaction();
      await Promise.all(done);
    } finally {
      await holder.release();
    }
  }

  /** A code that a page showed once, of which the database has only a hash. */
  private lastShown = '';

  private async makeKey(by: number) {
    const { visitor } = this.people[by]!;
    const form = { name: 'theirs', access: 'scopes', scopes: Object.keys(SCOPES), expires: 'never', form_token: randomUUID() };
    const answer = await this.stage.portal.post(`/o/${this.slug}/keys`, form, visitor.header);
    const shown = answer.status === 303 ? await visitor.get(answer.headers.location!) : null;
    const text = /\w+_live_[0-9a-f]{64}/.exec(shown?.text ?? '')?.[0];
    if (text) this.keys.push({ by, text });
    return answer;
  }

  /** Sets a limit that 20 people can race for. */
  async limit(id: string, places: number): Promise<void> {
    await this.stage.make.query('UPDATE invites SET places = $2 WHERE id = $1', [id, places]);
  }

  /** Who belongs as what, as the database has it. */
  async observe(): Promise<Observed> {
    const { make } = this.stage;
    const place = (id: string | null) => (id === null ? null : this.people.findIndex((person) => person.id === id));
    const [row] = await make.query<{ members: Row[]; parents: Row[]; inclass: string[]; invites: (Row & { joins: Row[] })[]; keys: string[] }>(
      `SELECT
        (SELECT coalesce(json_agg(m), '[]') FROM members m WHERE organization_id = $1 AND user_id <> $2) AS members,
        (SELECT coalesce(json_agg(json_build_object('user_id', user_id, 'status', status, 'linked', enrolled_at IS NOT NULL)), '[]')
          FROM parents WHERE organization_id = $1) AS parents,
        ARRAY(SELECT user_id FROM classroom_members WHERE classroom_id = $3)::text[] AS inclass,
        ARRAY(SELECT created_by FROM api_keys WHERE organization_id = $1 AND created_by IS NOT NULL AND revoked_at IS NULL)::text[] AS keys,
        (SELECT json_agg(i ORDER BY created_at, id) FROM (SELECT i.*, encode(sealed, 'hex') AS sealed_code,
            k.created_by AS key_of,
            (SELECT id FROM users WHERE email_normalized = lower(i.email)) AS addressee,
            (SELECT coalesce(json_agg(j), '[]') FROM joins j WHERE j.organization_id = $1 AND j.invite_id = i.id) AS joins
          FROM invites i LEFT JOIN api_keys k ON k.id = i.api_key_id WHERE i.organization_id = $1 AND scope <> 'account') i) AS invites`,
      [this.school.id, this.child, this.classroom],
    );
    const { members, parents, inclass, invites, keys } = row!;
    return {
      members: members.map((m) => [place(m.user_id!), m.role, m.status, m.approval_requested_at !== null].join(' ')).sort(),
      parents: parents.map((p) => [place(p.user_id!), p.status, p.linked].join(' ')).sort(),
      inClass: inclass.map((id) => `${place(id)}`).sort(),
      keys: keys.map((id) => `${place(id)}`).sort(),
      invites: invites.map((i) => ({
        id: i.id!,
        sealed: i.sealed_code ?? null,
        text: inviteText({
          kind: i.email !== null ? 'mail' : i.scope === 'organization' ? (i.role as CodeKind) : i.scope === 'classroom' ? 'class' : 'parent',
          role: i.role as Role,
          to: place(i.addressee ?? null),
          by: place(i.created_by ?? null),
          key: place(i.key_of ?? null),
          state: i.switched_off ? 'off' : i.revoked_at !== null || i.accepted_at !== null ? 'closed' : i.held_at !== null ? 'held' : 'open',
          places: i.places as number | null,
          joins: i.joins.map((j) => `${place(j.user_id!)} ${j.approval}`),
        }),
      })),
    };
  }

  /** Learns what opens new invites: from their mail, the page that showed it, or the code that is kept. */
  async learn(observed: Observed, { s }: Belonging): Promise<void> {
    const { api, portal, make } = this.stage;
    for (const { id, sealed } of observed.invites) {
      if (this.secrets.has(id)) continue;
      const invite = s.invites.find((one) => one.id === id)!;
      if (sealed) this.secrets.set(id, { secret: portal.app.get(Invites).codeOf(Buffer.from(sealed, 'hex'))!, proof: '' });
      else if (invite.to === null) this.secrets.set(id, { secret: this.lastShown, proof: '' });
      else {
        const mails = await mailsTo(api, make, this.people[invite.to]!.email);
        const mail = mails.find(({ organizationId, kind }) => organizationId === this.school.id && kind === 'organization_invite');
        this.secrets.set(id, { secret: mail?.token ?? '-', proof: mail?.proof ?? '' });
      }
    }
  }

  /** All that the other organization has, as text. */
  async elsewhere(): Promise<string> {
    const tables = ['members', 'parents', 'invites', 'joins', 'api_keys', 'classroom_members', 'audit_log', 'outbox'];
    const parts = tables.map((table) => `(SELECT json_agg(t ORDER BY t::text) FROM ${table} t WHERE t.organization_id = $1)`);
    const [row] = await this.stage.make.query(`SELECT json_build_array(${parts.join(', ')})::text AS all`, [this.other.id]);
    return row!.all as string;
  }
}

type Row = Record<string, string | null> & { places?: unknown };
