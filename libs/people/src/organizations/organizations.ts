import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, KEPT, type KeptKind, normalizeEmail, type Tables } from '@app/database';
import { Invites } from '../invites/invites.js';
import { isEmail } from '../email.js';
import { Refused } from '@app/rules';
import { IDENTITY } from './identity.js';
import { readAll } from './settings.js';

export interface NewOrganization {
  name: string;
  slug: string;
  timeZone?: string;
  currency?: string;
}

export interface Organization extends Required<NewOrganization> {
  id: string;
  createdAt: Date;
}

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const SLUG_RULE = 'up to 100 lowercase letters, digits and single hyphens';

/** No organization has this id. */
const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000';

/** Organizations and their owners, managed by the operator. */
@Injectable()
export class Organizations {
  constructor(
    private readonly db: Database,
    private readonly invites: Invites,
  ) {}

  /** Creates an organization and its permanent join codes. @throws Refused when the slug is taken or a value is invalid */
  async create(wanted: NewOrganization): Promise<{ id: string }> {
    const { slug, timeZone = 'Australia/Melbourne', currency = 'AUD' } = wanted;
    if (!SLUG.test(slug) || slug.length > 100)
      throw Refused.invalid(`"${slug}" is not a valid slug: use ${SLUG_RULE}.`, 'slug');
    const { name } = readAll(IDENTITY, { name: wanted.name, timeZone, currency });
    if (await this.idBySlug(slug)) throw Refused.invalid(`The organization "${slug}" already exists.`, 'slug');
    const id = uuidv7();
    await this.db.transaction({ organizationId: id }, async () => {
      await this.db.query(sql`
        INSERT INTO organizations (id, name, slug, time_zone, currency)
        VALUES (${id}, ${name}, ${slug}, ${timeZone}, ${currency})`);
      for (const [kind, { months, on }] of Object.entries<KeptKind>(KEPT))
        if (on)
          await this.db.query(
            sql`INSERT INTO retention_settings (organization_id, kind, months) VALUES (${id}, ${kind}, ${months})`,
          );
      await this.invites.addPermanentCodes(id);
    });
    return { id };
  }

  /** All organizations, by slug. Only for the owner of the database, who may bypass row-level security. */
  async list(): Promise<Organization[]> {
    return this.db.transaction({ organizationId: NO_ORGANIZATION }, async () => {
      await this.db.query(sql`SELECT set_config('app.maintenance', 'on', true)`);
      return this.db.query<Organization>(sql`
        SELECT id, name, slug, time_zone AS "timeZone", currency, created_at AS "createdAt"
        FROM organizations ORDER BY slug`);
    });
  }

  /** The id of the organization with this slug; null when there is none. */
  async idBySlug(slug: string): Promise<string | null> {
    const [row] = await this.db.lookUp<{ id: string | null }>(sql`SELECT organization_by_slug(${slug}) AS id`);
    return row?.id ?? null;
  }

  /**
   * Makes a person an owner of the organization, if they aren't one; one who has left is one again. @param added further work in the same transaction
   * @throws Refused for a member with another role
   */
  async addOwner(
    organizationId: string,
    email: string,
    added?: (userId: string) => Promise<void>,
  ): Promise<{ userId: string; created: boolean }> {
    const address = email.trim();
    const normalized = normalizeEmail(address);
    if (!isEmail(address)) throw Refused.invalid(`"${email}" is not a valid email address.`, 'email');
    return this.db.transaction({ organizationId }, async () => {
      // Names no conflict target: with one, row-level security would require the new row to be visible.
      await this.db.query(sql`
        INSERT INTO users (id, email, email_normalized, first_name, last_name)
        VALUES (${uuidv7()}, ${address}, ${normalized}, ${address.split('@')[0]!.slice(0, 200)}, 'Owner')
        ON CONFLICT DO NOTHING`);
      // A login of another organization is invisible here, but its id can be looked up.
      const [login] = await this.db.query<{ id: string }>(sql`SELECT id FROM logins_by_email(ARRAY[${normalized}])`);
      const userId = login!.id;
      const [member] = await this.db.query<Pick<Tables['members'], 'role' | 'status'>>(sql`
        SELECT role, status FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId}`);
      if (member && member.role !== 'owner') {
        const reason = `${address} is already a member of this organization, with the role ${member.role}`;
        throw Refused.invalid(reason, 'email');
      }
      if (!member) {
        await this.db.query(sql`
          INSERT INTO members (id, organization_id, user_id, role, status)
          VALUES (${uuidv7()}, ${organizationId}, ${userId}, 'owner', 'pending')`);
      }
      const belongs = member?.status === 'accepted';
      if (!belongs) {
        // The operator vouches for it: the login may have other memberships.
        await this.db.query(sql`SELECT accept_ties(${userId}, false, true)`);
        await added?.(userId);
      }
      return { userId, created: !belongs };
    });
  }
}
