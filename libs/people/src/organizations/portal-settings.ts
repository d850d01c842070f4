import { Injectable } from '@nestjs/common';
import sql, { join, raw } from 'sql-template-tag';
import type { Actor, Done } from '@app/audit';
import { Database } from '@app/database';
import { Refused, type Refusal } from '@app/rules';
import { ManagerNotices } from './manager-notices.js';

export type Value = string | number | boolean | null;

/** The values of settings, by name. */
export type Values = Record<string, Value>;

/** A setting of an organization that only the portal changes: a column of `organizations`. */
export interface Setting {
  column: string;
  /** As pages and mails name it. */
  label: string;
  /** What was typed, without surrounding whitespace, as it is stored; null if it cannot be. */
  read: (text: string) => Value;
  /** How a value is written; as it is, unless it says otherwise. */
  show?: (value: Value) => string;
  /** Why something else is refused. */
  reason: string;
  /** It always has a value. Others are null if nothing was typed. */
  required?: true;
}

export type Settings<Name extends string = string> = Record<Name, Setting>;

/** What was typed, by name. */
export type Typed<Name extends string> = Record<Name, string>;

const LONGEST_URL = 500;

/** What owners and admins say of their organization in the portal alone. */
@Injectable()
export class PortalSettings {
  constructor(
    private readonly db: Database,
    private readonly notices: ManagerNotices,
  ) {}

  /** The values, as they are typed; empty if there is none. */
  async of<Name extends string>(organizationId: string, settings: Settings<Name>): Promise<Typed<Name>> {
    const [[row]] = await this.db.read<[Values]>(
      { organizationId },
      sql`SELECT ${columnsOf(settings)} FROM organizations WHERE id = ${organizationId}`,
    );
    return shown(settings, row!) as Typed<Name>;
  }

  /**
   * Changes all of these, in the ambient transaction; the audit row names what changed. All owners are told, also whoever did it: their session
   * could be somebody else's, and this is where every family is told to go and to pay.
   *
   * @param faults what is wrong with the values together @throws Refused at each value that is not possible
   */
  async change<Name extends string>(
    organizationId: string,
    by: Actor,
    settings: Settings<Name>,
    given: Typed<Name>,
    faults: (values: Values) => Refusal[] = () => [],
  ): Promise<Done> {
    const values = readAll(settings, given);
    const wrong = faults(values);
    if (wrong.length > 0) throw Refused.invalidAt(wrong);
    const [before] = await this.db.query<Values>(sql`
      SELECT ${columnsOf(settings)} FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`);
    const changed = (Object.keys(settings) as Name[]).filter((name) => values[name] !== before![name]);
    if (changed.length === 0) return { changed: false };
    const assigned = changed.map((name) => sql`${raw(settings[name].column)} = ${values[name]}`);
    await this.db.query(sql`
      UPDATE organizations SET ${join(assigned)}, updated_at = now() WHERE id = ${organizationId}`);
    const [was, is] = [shown(settings, before!), shown(settings, values)];
    await this.notices.tell(organizationId, {
      kind: 'settings_changed',
      page: '/settings',
      owners: true,
      about: (nameOf) => ({
        settings: {
          by: nameOf(by.userId),
          changes: changed.map((name) => ({
            name: settings[name].label,
            before: was[name] || null,
            after: is[name] || null,
          })),
        },
      }),
    });
    return { audit: { fields: changed } };
  }
}

/** A link that people can follow safely. */
export function httpsUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, username, password, hostname, href } = new URL(text);
  const plain = protocol === 'https:' && username === '' && password === '' && hostname.includes('.');
  return plain && href.length <= LONGEST_URL ? href : null;
}

export const isPhone = (text: string): boolean => /^\+?[\p{Nd}\s().\-/]*\p{Nd}[\p{Nd}\s().\-/]*$/u.test(text);

const columnsOf = (settings: Settings) =>
  join(Object.entries(settings).map(([name, { column }]) => raw(`${column} AS "${name}"`)));

/** @throws Refused */
function readAll(settings: Settings, given: Record<string, string>): Values {
  const refusals: Refusal[] = [];
  const entries = Object.entries(settings).map(([name, { read, required, reason }]): [string, Value] => {
    const text = given[name]!.trim();
    if (text === '' && !required) return [name, null];
    const value = read(text);
    if (value === null) refusals.push({ at: [name], reason });
    return [name, value];
  });
  if (refusals.length > 0) throw Refused.invalidAt(refusals);
  return Object.fromEntries(entries);
}

function shown(settings: Settings, values: Values): Record<string, string> {
  const write = (value: Value) => (value === null || value === false ? '' : value === true ? 'yes' : String(value));
  return Object.fromEntries(
    Object.entries(settings).map(([name, { show = write }]) => [name, show(values[name] ?? null)]),
  );
}
