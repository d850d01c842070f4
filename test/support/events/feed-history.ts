import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import supertest from 'supertest';
import type { Random } from '../data/random.js';
import type { TestApi } from '../http/api.js';

/** What a writer of another process can change. */
export interface Race {
  school: { id: string; slug: string };
  key: string;
  subjects: string[];
  /** Classrooms, whose subjects change. */
  classrooms: () => string[];
  /** Leads, whose statuses change. */
  leads: string[];
}

/** What happens in a history. */
export interface Plan {
  /** Transactions of all writers together. */
  transactions: number;
  /** Something that breaks connections, now and then. */
  blow?: () => Promise<unknown>;
  /** Further writers: what each does again and again. What fails was not committed, or is kept. */
  others?: ((race: Race) => Promise<unknown>)[];
}

interface Event {
  id: string;
  type: string;
  resource_id: string;
  data: { subject_id?: string; status?: string };
}

/** Independent of the feed: a trigger for each row, which writes in the transaction of the change, as it is rolled back with it. */
const KEPT = `
  CREATE TABLE kept (place bigserial PRIMARY KEY, transaction xid8 DEFAULT pg_current_xact_id(), organization_id uuid, id uuid, op text, version text);
  CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
  DECLARE r record;
  BEGIN
    r := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    INSERT INTO kept (organization_id, id, op, version) VALUES (r.organization_id, r.id, TG_OP, to_jsonb(r) ->> TG_ARGV[0]);
    RETURN NULL;
  END $$;
  CREATE TRIGGER keep AFTER INSERT OR UPDATE OR DELETE ON classrooms FOR EACH ROW EXECUTE FUNCTION keep('subject_id');
  CREATE TRIGGER keep AFTER UPDATE ON leads FOR EACH ROW EXECUTE FUNCTION keep('status')`;

const EXPECTED = `
  SELECT id, CASE WHEN ops[1] = 'INSERT' THEN 'created' WHEN last = 'DELETE' THEN 'deleted' ELSE 'updated' END || ' ' || version AS told FROM (
    SELECT id, min(place) AS place, array_agg(op ORDER BY place) AS ops, (array_agg(op ORDER BY place DESC))[1] AS last,
      (array_agg(version ORDER BY place DESC))[1] AS version FROM kept WHERE organization_id = $1 GROUP BY id, transaction) t
  WHERE NOT (ops[1] = 'INSERT' AND last = 'DELETE') ORDER BY place`;

const LEADS = `INSERT INTO leads (id, organization_id, name, phone)
  SELECT gen_random_uuid(), $1, 'Race', '0400 000 000' FROM generate_series(1, 3) RETURNING id`;

const RECORDS = 6;
const SQL_WRITERS = 5;
const API_WRITERS = 3;

/** Writers race over a few classrooms and leads, whose subject or status says which version an event tells of, while readers follow the feed. */
export class FeedHistory {
  private records: string[] = [];
  private left: number;
  private running = true;

  private constructor(
    private readonly api: TestApi,
    private readonly random: Random,
    private readonly plan: Plan,
    private readonly race: Omit<Race, 'classrooms'>,
  ) {
    this.left = plan.transactions;
  }

  static async prepare(api: TestApi): Promise<void> {
    await api.make.query(KEPT);
  }

  /** @returns what the readers missed, saw twice or in another order, by record; and how much was told */
  static async run(api: TestApi, random: Random, plan: Plan): Promise<{ wrong: string[]; told: number }> {
    const school = await api.make.organization();
    const subjects: string[] = [];
    for (let count = 0; count < 40; count++) subjects.push((await api.make.subject(school.id)).id);
    const leads = (await api.make.query<{ id: string }>(LEADS, [school.id])).map(({ id }) => id);
    const key = await api.key(school.id, { scopes: ['read', 'write'] });
    return new FeedHistory(api, random, plan, { school, key, subjects, leads }).all();
  }

  private async all(): Promise<{ wrong: string[]; told: number }> {
    const readers = [
      this.read('oldest', '', () => true),
      this.read('oldest', '&wait=1', () => true),
      this.read('oldest', '&types=classroom.updated,classroom.deleted,lead.updated', (told) => !told.startsWith('created')),
    ];
    const around = [this.number(), this.number(), this.strike()];
    const others = (this.plan.others ?? []).map((write) => this.repeat(write));
    const writers = [...Array.from({ length: SQL_WRITERS }, () => this.write()), ...Array.from({ length: API_WRITERS }, () => this.request())];
    await Promise.all([...writers, ...others]);
    this.running = false;
    await Promise.all(around);
    while ((await this.api.make.query('SELECT FROM event_changes LIMIT 1')).length > 0) await this.api.make.query('SELECT number_events()');
    const rows = await this.api.make.query<{ id: string; told: string }>(EXPECTED, [this.race.school.id]);
    const found = await Promise.all(readers);
    const wrong = found.flatMap(({ events, wanted }, reader) => {
      const [seen, expected] = [lines(events), lines(rows.filter(({ told }) => wanted(told)))];
      return [...new Set([...seen.keys(), ...expected.keys()])]
        .filter((id) => String(seen.get(id)) !== String(expected.get(id)))
        .map((id) => `reader ${reader}, ${id}: ${String(seen.get(id))} instead of ${String(expected.get(id))}`);
    });
    return { wrong, told: rows.length };
  }

  /** Transactions of some changes: long ones, ones that are rolled back, in parts or as a whole, and ones that the server ends. */
  private async write(): Promise<void> {
    while (this.left-- > 0) {
      const client = new pg.Client({ connectionString: this.api.database.adminUrl, application_name: 'writer' });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('BEGIN');
        const long = this.random.chance(0.2);
        for (let change = this.random.integer(4); change >= 0; change--) {
          const undone = this.random.chance(0.1);
          if (undone) await client.query('SAVEPOINT undone');
          await this.change(client);
          if (undone) await client.query('ROLLBACK TO undone');
          if (long) await sleep(this.random.integer(150));
        }
        await client.query(this.random.chance(0.2) ? 'ROLLBACK' : 'COMMIT');
      } catch {
        // A deadlock, or a blow: what was committed is kept, and told.
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  }

  private async change(client: pg.Client): Promise<void> {
    const subject = this.random.pick(this.race.subjects);
    const id = this.random.pick(this.records);
    if (this.records.length < RECORDS || this.random.chance(0.15)) {
      const { rows } = await client.query<{ id: string }>(
        `INSERT INTO classrooms (id, organization_id, name, subject_id) VALUES (gen_random_uuid(), $1, 'Race', $2) RETURNING id`,
        [this.race.school.id, subject],
      );
      this.records.push(rows[0]!.id);
    } else if (this.random.chance(0.1)) {
      await client.query('DELETE FROM classrooms WHERE organization_id = $1 AND id = $2', [this.race.school.id, id]);
      this.records = this.records.filter((one) => one !== id);
    } else {
      await client.query('UPDATE classrooms SET subject_id = $3 WHERE organization_id = $1 AND id = $2 AND subject_id <> $3', [
        this.race.school.id,
        id,
        subject,
      ]);
    }
  }

  private async request(): Promise<void> {
    while (this.left-- > 0) {
      const path = `/v1/classrooms/${this.random.pick([this.race.school.id, ...this.records])}`;
      const request = supertest(this.api.server).patch(path).set('Authorization', `Token token=${this.race.key}`);
      await request.send({ subject_id: this.random.pick(this.race.subjects) });
    }
  }

  private async repeat(write: (race: Race) => Promise<unknown>): Promise<void> {
    while (this.left-- > 0) await write({ ...this.race, classrooms: () => this.records }).catch(() => sleep(20));
  }

  /** As the worker does, and each process in which readers wait. */
  private async number(): Promise<void> {
    while (this.running) {
      const client = new pg.Client({ connectionString: this.api.database.adminUrl, application_name: 'numberer' });
      client.on('error', () => undefined);
      try {
        await client.connect();
        for (let times = 0; times < 20; times++) {
          await client.query('SELECT number_events()');
          await sleep(this.random.integer(20));
        }
      } catch {
        await sleep(20);
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  }

  private async strike(): Promise<void> {
    while (this.running) {
      await sleep(50 + this.random.integer(250));
      await this.plan.blow?.();
    }
  }

  private async read(cursor: string, more: string, wanted: (told: string) => boolean) {
    const events: { id: string; told: string }[] = [];
    for (;;) {
      const done = !this.running && (await this.api.make.query('SELECT FROM event_changes LIMIT 1').catch(() => [0])).length === 0;
      const answer = await this.api.get(`/v1/events?cursor=${cursor}&limit=${1 + this.random.integer(20)}${more}`, this.race.key);
      if (answer.status !== 200) {
        // Its connection to the database broke.
        if (answer.status < 500) throw new Error(`A reader got ${answer.status}: ${JSON.stringify(answer.body)}`);
        await sleep(20);
        continue;
      }
      const { data, meta } = answer.body as { data: Event[]; meta: { next_cursor: string; has_more: boolean } };
      for (const event of data.filter(
        ({ resource_id, type }) => type.startsWith('classroom.') || (this.race.leads.includes(resource_id) && type !== 'lead.created'),
      ))
        events.push({ id: event.resource_id, told: `${event.type.split('.')[1]} ${event.data.subject_id ?? event.data.status}` });
      cursor = meta.next_cursor;
      if (done && !meta.has_more) return { events, wanted };
    }
  }
}

/** What was told of each record, in order. */
const lines = (told: { id: string; told: string }[]) =>
  new Map([...Map.groupBy(told, ({ id }) => id)].map(([id, all]) => [id, all.map((one) => one.told).join(', ')]));
