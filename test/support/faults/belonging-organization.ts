import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { SCOPES } from '@app/access';
import { lockNumber } from '@app/database';
import { Invites } from '@app/people';
import { newAddress, PeopleFixture } from '../data/provisioning.js';
import { Visitor } from '../portal/visitor.js';
import { mailsTo } from '../worker/mailbox.js';
import type { CodeKind } from './belonging-commands.js';
import type { IdentityFixture } from './identity-model.js';

type Role = 'owner' | 'admin' | 'tutor' | 'student';

/** How somebody belongs, by the number of the person. */
export interface Tie {
  who: number;
  role: Role | 'parent';
  status: 'accepted' | 'pending' | 'archived';
  waits: boolean;
  made: string;
}

export interface Invite {
  id: string;
  kind: CodeKind | 'mail';
  role: Role | 'parent';
  /** The only person who can use it. */
  to: number | null;
  state: 'open' | 'held' | 'off' | 'closed';
  /** In hexadecimal. */
  sealed: string | null;
  joins: { who: number; at: string; approval: string | null }[];
}

/** Who belongs as what, as the database has it. */
export interface Rows {
  members: Tie[];
  parents: Tie[];
  invites: Invite[];
  /** Who made each key that works. */
  keys: number[];
}

/** What somebody does, of which everything is decided but the outcome. */
export type Act =
  | { do: 'join' | 'declineMail'; who: number; invite: Invite }
  | { do: 'answer'; who: number; accept: boolean }
  | { do: 'invite'; by: number; who: number; role: 'student' | 'tutor' | 'admin' }
  | { do: 'keyInvite'; by: number | null; who: number; role: 'student' | 'tutor' | 'admin' }
  | { do: 'decide'; by: number; who: number; as: 'member' | 'parent'; approve: boolean }
  | { do: 'remove'; by: number; who: number }
  | { do: 'keyRemove'; who: number; as: 'student' | 'staff' | 'parent' }
  | { do: 'leave'; who: number }
  | { do: 'role'; by: number; who: number; role: 'owner' | 'admin' | 'tutor' }
  | { do: 'replace' | 'switchOff'; by: number; invite: Invite }
  | { do: 'undo'; by: number; invite: Invite; moment: string }
  | { do: 'makeKey'; by: number };

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
  ) {}

  static async open(stage: IdentityFixture): Promise<BelongingStage> {
    const { api, portal, make } = stage;
    const [school, other] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
    const { slug } = await make.find('organizations', school.id);
    const { id: child } = await make.student(school.id);
    const { id: classroom } = await make.classroom(school.id);
    const opened = new BelongingStage(stage, school, slug, other);
    await opened.add(CAST);
    const roles = AT_START.map((role, place) => ({ organizationId: school.id, userId: opened.people[place]!.id, role, status: 'accepted' as const }));
    await make.rows('members', roles);
    const elsewhere = [0, 5].map((place) => ({ organizationId: other.id, userId: opened.people[place]!.id, role: 'admin' as const, status: 'accepted' as const })); // prettier-ignore
    await make.rows('members', elsewhere);
    // What a tutor leaves behind.
    const tutorId = opened.people[4]!.id;
    await make.session(school.id, { tutorId, startsAt: new Date('2031-03-03T09:00:00Z') });
    await make.classroom(school.id, { tutorId });
    await make.tutorStudent(school.id, tutorId, child);
    await make.insert('leads', [{ organization_id: school.id, name: 'Zoe', assigned_tutor_id: tutorId }]);
    await portal.app.get(Invites).ensurePermanentCodes(school.id);
    for (const wish of [
      { scope: 'classroom', classroom_id: classroom },
      { scope: 'parent', student_id: child },
    ])
      await opened.byKey(school.key, wish);
    return opened;
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
  async do(act: Act): Promise<void> {
    const { people, slug, school } = this;
    const page = `/o/${slug}/people`;
    /** Joining gives the browser a new session: a form that was under way with the old one is sent once more. */
    const post = async (person: number, path: string, form: Record<string, string>) => {
      const { visitor } = people[person]!;
      const answer = await visitor.post(path, form);
      return answer.headers.location?.startsWith('/sign-in') ? visitor.post(path, form) : answer;
    };
    const target = 'who' in act ? people[act.who]! : null;
    let answer: { status: number; text?: string; headers: Record<string, string> };
    switch (act.do) {
      case 'join':
      case 'declineMail': {
        const { secret, proof } = this.secrets.get(act.invite.id)!;
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
        answer = await post(act.by, `${page}/codes/${act.invite.id}/replace`, {});
        this.lastShown = /\/join\/([2-9A-Z]{12})"/.exec(answer.text ?? '')?.[1] ?? this.lastShown;
        break;
      case 'switchOff':
        answer = await post(act.by, `${page}/codes/${act.invite.id}/switch-off`, {});
        break;
      case 'undo':
        answer = await post(act.by, `${page}/codes/${act.invite.id}/undo`, { since: act.moment });
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

  /** Who belongs as what, and what opens new invites: from their mail, the page that showed it, or the code that is kept. */
  async rows(): Promise<Rows> {
    const ids = this.people.map(({ id }) => id);
    const [rows] = await this.stage.make.query<Rows>(
      `WITH p AS (SELECT id, n - 1 AS who FROM unnest($2::uuid[]) WITH ORDINALITY AS p (id, n))
      SELECT
        (SELECT coalesce(json_agg(json_build_object('who', p.who, 'role', m.role, 'status', m.status, 'made', m.created_at,
          'waits', m.approval_requested_at IS NOT NULL)), '[]') FROM members m JOIN p ON p.id = m.user_id WHERE m.organization_id = $1) AS members,
        (SELECT coalesce(json_agg(json_build_object('who', p.who, 'role', 'parent', 'status', m.status, 'made', m.created_at, 'waits', false)), '[]')
          FROM parents m JOIN p ON p.id = m.user_id WHERE m.organization_id = $1) AS parents,
        ARRAY(SELECT p.who::int FROM api_keys k JOIN p ON p.id = k.created_by WHERE k.organization_id = $1 AND k.revoked_at IS NULL ORDER BY 1) AS keys,
        (SELECT json_agg(json_build_object('id', i.id, 'role', i.role, 'sealed', encode(i.sealed, 'hex'),
          'kind', CASE WHEN i.email IS NOT NULL THEN 'mail' WHEN i.scope = 'organization' THEN i.role WHEN i.scope = 'classroom' THEN 'class' ELSE 'parent' END,
          'to', (SELECT p.who FROM users u JOIN p ON p.id = u.id WHERE u.email_normalized = lower(i.email)),
          'state', CASE WHEN i.switched_off THEN 'off' WHEN i.revoked_at IS NOT NULL OR i.accepted_at IS NOT NULL THEN 'closed'
            WHEN i.held_at IS NOT NULL THEN 'held' ELSE 'open' END,
          'joins', (SELECT coalesce(json_agg(json_build_object('who', p.who, 'at', j.joined_at, 'approval', j.approval)), '[]')
            FROM joins j JOIN p ON p.id = j.user_id WHERE j.organization_id = $1 AND j.invite_id = i.id)) ORDER BY i.created_at, i.id)
          FROM invites i WHERE i.organization_id = $1 AND i.scope <> 'account') AS invites`,
      [this.school.id, ids],
    );
    for (const invite of rows!.invites) if (!this.secrets.has(invite.id)) this.secrets.set(invite.id, await this.secretOf(invite));
    return rows!;
  }

  private async secretOf({ sealed, to }: Invite): Promise<{ secret: string; proof: string }> {
    const { api, portal, make } = this.stage;
    if (sealed) return { secret: portal.app.get(Invites).codeOf(Buffer.from(sealed, 'hex'))!, proof: '' };
    if (to === null) return { secret: this.lastShown, proof: '' };
    const mails = await mailsTo(api, make, this.people[to]!.email);
    const mail = mails.find(({ organizationId, kind }) => organizationId === this.school.id && kind === 'organization_invite');
    return { secret: mail?.token ?? '-', proof: mail?.proof ?? '' };
  }

  /** All that the other organization has, as text. */
  async elsewhere(): Promise<string> {
    const tables = ['members', 'parents', 'invites', 'joins', 'api_keys', 'classroom_members', 'audit_log', 'outbox'];
    const parts = tables.map((table) => `(SELECT json_agg(t ORDER BY t::text) FROM ${table} t WHERE t.organization_id = $1)`);
    const [row] = await this.stage.make.query(`SELECT json_build_array(${parts.join(', ')})::text AS all`, [this.other.id]);
    return row!.all as string;
  }
}
