import { Injectable } from '@nestjs/common';
import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Actor } from '@app/audit';
import { Database } from '@app/database';
import { Refused, type Refusal } from '@app/rules';
import { ManagerNotices } from './manager-notices.js';
import { type ZoneMove, ZoneMoves } from './zone-moves.js';

export type Value = string | number | boolean | null;

/** The values of settings, by name. */
export type Values = Record<string, Value>;

/** A setting of an organization: a column of `organizations`. */
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

const MONEY = ['invoices', 'payments', 'payouts', 'adjustments', 'mileage_trips', 'expense_claims'];

type By = Pick<Actor, 'userId' | 'apiKeyId'>;

/** What a change did. */
export interface SettingsChange<Name extends string> {
  changed: Name[];
  /** What another time zone moves; null if it stays. */
  move: ZoneMove | null;
}

/** What an organization says of itself, and how it counts time and money. */
@Injectable()
export class OrganizationSettings {
  constructor(
    private readonly db: Database,
    private readonly notices: ManagerNotices,
    private readonly zones: ZoneMoves,
  ) {}

  /** The values, as they are typed; empty if there is none. */
  async of<Name extends string>(organizationId: string, settings: Settings<Name>): Promise<Typed<Name>> {
    const [[row]] = await this.db.read<[Values]>(
      { organizationId },
      sql`SELECT ${columnsOf(settings)} FROM organizations WHERE id = ${organizationId}`,
    );
    return shown(settings, row!) as Typed<Name>;
  }

  /** Whether an amount of money has been written down, prices aside: then the currency stays. */
  async hasMoney(organizationId: string): Promise<boolean> {
    const [[row]] = await this.db.read<[{ money: boolean }]>({ organizationId }, moneyOf(organizationId));
    return row!.money;
  }

  /**
   * Changes those that are given, in the ambient transaction; the audit row names what changed. All owners are told, in full, also whoever did it:
   * their session could be somebody else's, and this is where every family is told to go and to pay.
   *
   * @param faults what is wrong with the values together
   * @throws Refused at each value that is not possible, and another currency once there is money
   */
  async change<Name extends string>(
    organizationId: string,
    by: By,
    settings: Settings<Name>,
    given: Partial<Typed<Name>>,
    faults: (values: Values) => Refusal[] = () => [],
  ): Promise<SettingsChange<Name>> {
    const values = readAll(settings, given);
    const wrong = faults(values);
    if (wrong.length > 0) throw Refused.invalidAt(wrong);
    // Whoever writes money down holds the currency, and is waited for.
    const lock = raw('currency' in values ? 'FOR UPDATE' : 'FOR NO KEY UPDATE');
    const [before] = await this.db.query<Values>(sql`
      SELECT ${columnsOf(settings)} FROM organizations WHERE id = ${organizationId} ${lock}`);
    const changed = (Object.keys(settings) as Name[]).filter(
      (name) => name in values && values[name] !== before![name],
    );
    const names: readonly string[] = changed;
    if (names.includes('currency')) {
      const [found] = await this.db.query<{ money: boolean }>(moneyOf(organizationId));
      if (found!.money) throw Refused.conflict('has_money', 'There is money already, so the currency stays.');
    }
    if (changed.length === 0) return { changed, move: null };
    const assigned = changed.map((name) => sql`${raw(settings[name].column)} = ${values[name]}`);
    await this.db.query(sql`
      UPDATE organizations SET ${join(assigned)}, updated_at = now() WHERE id = ${organizationId}`);
    const [was, is] = [shown(settings, before!), shown(settings, values)];
    const changes = changed.map((name) => ({
      name: settings[name].label,
      before: was[name] || null,
      after: is[name] || null,
    }));
    const key = await this.keyOf(organizationId, by);
    await this.notices.tell(organizationId, {
      kind: 'settings_changed',
      page: '/settings',
      owners: true,
      about: (nameOf) => ({ settings: { by: key ?? nameOf(by.userId), changes } }),
    });
    const move = names.includes('timeZone')
      ? await this.zones.count(organizationId, before!.timeZone as string, values.timeZone as string)
      : null;
    return { changed, move };
  }

  private async keyOf(organizationId: string, { apiKeyId }: By): Promise<string | null> {
    if (!apiKeyId) return null;
    const [key] = await this.db.query<{ name: string }>(sql`
      SELECT name FROM api_keys WHERE organization_id = ${organizationId} AND id = ${apiKeyId}`);
    return `The API key ${key!.name}`;
  }
}

function moneyOf(organizationId: string): Sql {
  const rows = MONEY.map((table) => sql`EXISTS (SELECT FROM ${raw(table)} WHERE organization_id = ${organizationId})`);
  return sql`SELECT ${join(rows, ' OR ')} OR EXISTS (SELECT FROM sessions
    WHERE organization_id = ${organizationId} AND (amount_owed_cents > 0 OR tutor_pay_cents > 0)) AS money`;
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

/** Of those that are given. @throws Refused */
export function readAll<Name extends string>(settings: Settings<Name>, given: Partial<Typed<Name>>): Values {
  const refusals: Refusal[] = [];
  const entries = Object.entries<string | undefined>(given).flatMap(([name, typed]): [string, Value][] => {
    if (typed === undefined) return [];
    const { read, required, reason } = settings[name as Name];
    const text = typed.trim();
    if (text === '' && !required) return [[name, null]];
    const value = read(text);
    if (value === null) refusals.push({ at: [name], reason });
    return [[name, value]];
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
