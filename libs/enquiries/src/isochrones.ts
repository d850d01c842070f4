import { Injectable } from '@nestjs/common';
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { Turns } from '@app/concurrency';
import { Env } from '@app/config';
import { Database, idOf, type Tenant } from '@app/database';
import { distanceBetween, teach, TUTORS, tutorsOf } from './coverage.js';
import { type Drive, type Point, RoutingService } from './routing-service.js';

/** Postcodes for which one refresh asks. */
const MOST_HOMES = 20;

/** Places around each of them, the nearest ones. */
const MOST_PLACES = 990;

/** As the crow flies, no car is faster (km in a minute). */
const FASTEST = 2;

/** Degrees of latitude in a kilometer. */
const DEGREE = 1 / 111;

/** Calls of one refresh at a time. */
const LANES = 4;

/** Refreshes at a time in this process. */
const MOST_REFRESHES = 4;

/** A postcode where tutors live, and the places around it. */
interface Home extends Point {
  postcode: string;
  tutors: number;
  near: (Point & { postcode: string })[];
}

/** What a refresh has to ask for. */
export interface RefreshPlan {
  minutes: number;
  /** Tutors who live in a known postcode and teach in person. */
  considered: number;
  /** Those of them whose road times are known. */
  cached: number;
  homes: Home[];
}

/** How far one can drive from a postcode. */
export interface Isochrone {
  postcode: string;
  minutes: number;
  /** By postcode. */
  reached: Record<string, Drive>;
}

export interface Computed {
  isochrones: Isochrone[];
  /** Tutors. */
  computed: number;
  failed: number;
  /** The first one, if anything failed at the routing service. */
  problem: unknown;
}

/**
 * Road times from where tutors live. Three steps, because nobody may wait for the network with a transaction open: `plan` reads,
 * `compute` asks the routing service, and `keep` writes.
 */
@Injectable()
export class Isochrones {
  private readonly turns = new Turns(MOST_REFRESHES);
  private readonly patience: number;

  constructor(
    private readonly db: Database,
    private readonly routing: RoutingService,
    env: Env,
  ) {
    this.patience = env.get('ROUTING_TIMEOUT_SECONDS') * 1_000;
  }

  get enabled(): boolean {
    return this.routing.enabled;
  }

  /** @param subject its id or code; null for the tutors of all subjects */
  async plan(tenant: Tenant, subject: string | null, minutes: number): Promise<RefreshPlan> {
    const homes = homesOf(tenant.organizationId, subject, minutes);
    const km = minutes * FASTEST;
    const far = raw(distanceBetween('h', 'there'));
    const [[counts], stale] = await this.db.read<[Pick<RefreshPlan, 'considered' | 'cached'>, Home]>(
      tenant,
      sql`SELECT coalesce(sum(tutors), 0)::int AS considered, coalesce(sum(tutors) FILTER (WHERE fresh), 0)::int AS cached
        FROM (${homes}) h`,
      // In any order: a postcode that always fails must not keep the others from their turn.
      sql`SELECT h.postcode, h.lat, h.lng, h.tutors, around.near
        FROM (SELECT * FROM (${homes}) h WHERE NOT fresh ORDER BY random() LIMIT ${MOST_HOMES}) h
        CROSS JOIN LATERAL (
          SELECT json_agg(json_build_object('postcode', near.postcode, 'lat', near.lat, 'lng', near.lng)) AS near FROM (
            SELECT there.postcode, there.lat, there.lng FROM places there
            WHERE there.lat BETWEEN h.lat - ${km * DEGREE} AND h.lat + ${km * DEGREE} AND ${far} <= ${km}
            ORDER BY ${far}, there.postcode LIMIT ${MOST_PLACES}) near) around`,
    );
    return { minutes, ...counts!, homes: stale };
  }

  /** Takes a bounded time, whatever the routing service does, and never throws. */
  async compute(organizationId: string, { minutes, considered, cached, homes }: RefreshPlan): Promise<Computed> {
    const isochrones: Isochrone[] = [];
    const waiting = [...homes];
    let [computed, problem]: [number, unknown] = [0, null];
    const lane = async (signal: AbortSignal) => {
      for (let home = waiting.shift(); home && !signal.aborted; home = waiting.shift()) {
        try {
          isochrones.push(await this.from(home, minutes, signal));
          computed += home.tutors;
        } catch (error) {
          problem ??= error;
        }
      }
    };
    if (homes.length > 0) {
      try {
        await this.turns.run(organizationId, () => {
          const signal = AbortSignal.timeout(this.patience);
          return Promise.all(Array.from({ length: LANES }, () => lane(signal)));
        });
      } catch (error) {
        problem = error;
      }
    }
    return { isochrones, computed, failed: considered - cached - computed, problem };
  }

  /** Also forgets where nobody lives any more. In the ambient transaction. */
  async keep(organizationId: string, isochrones: readonly Isochrone[]): Promise<void> {
    await this.db.query(sql`
      INSERT INTO isochrones (organization_id, postcode, minutes, reached, computed_at)
      SELECT ${organizationId}, r.postcode, r.minutes, r.reached, now()
      FROM json_to_recordset(${JSON.stringify(isochrones)}::json) AS r (postcode text, minutes integer, reached jsonb)
      ORDER BY r.postcode
      ON CONFLICT (organization_id, postcode) DO UPDATE
        SET minutes = excluded.minutes, reached = excluded.reached, computed_at = excluded.computed_at`);
    await this.db.query(sql`
      DELETE FROM isochrones i WHERE i.organization_id = ${organizationId} AND NOT EXISTS (
        SELECT FROM ${TUTORS} WHERE ${tutorsOf(organizationId)} AND home.postcode = i.postcode)`);
  }

  private async from({ postcode, near, ...home }: Home, minutes: number, signal: AbortSignal): Promise<Isochrone> {
    const drives = await this.routing.drives(home, near, signal);
    const reached = near.flatMap(({ postcode: there }, at): [string, Drive][] => {
      const drive = drives[at];
      return drive && drive[1] <= minutes ? [[there, drive]] : [];
    });
    return { postcode, minutes, reached: Object.fromEntries(reached) };
  }
}

/** The postcodes where tutors live who teach in person, and whether it is known how far they can drive from there. */
const homesOf = (organizationId: string, subject: string | null, minutes: number): Sql => sql`
  SELECT home.postcode, home.lat, home.lng, count(*)::int AS tutors, EXISTS (SELECT FROM isochrones i
    WHERE i.organization_id = ${organizationId} AND i.postcode = home.postcode AND i.minutes >= ${minutes}
      AND i.computed_at > now() - interval '30 days') AS fresh
  FROM ${TUTORS} WHERE ${tutorsOf(organizationId)} AND home.postcode IS NOT NULL AND t.teaching_mode IN ('in_person', 'both')
    ${subject === null ? empty : sql`AND ${teach(organizationId, idOf('subjects', organizationId, subject))}`}
  GROUP BY home.postcode`;
