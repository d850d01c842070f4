import sql, { join, raw, type Sql } from 'sql-template-tag';
import { digitsOf } from '@app/database';

/** A column that both the login and what the organization supplied have. */
export type VisibleColumn = 'first_name' | 'last_name' | 'full_name' | 'email' | 'phone';

/**
 * What an organization may see of a person, as SQL: the login while they belong; before they accept what it supplied itself, and after they have left
 * what it saw then. The caller joins the
 * login (`u`) with a LEFT JOIN, because row-level security hides all others. @param membership alias of `members` or `parents`
 */
export function visiblePerson(membership: string): Record<VisibleColumn | 'placeholder_email', string> {
  const of = (column: string) =>
    `CASE WHEN ${membership}.accepted_at IS NULL THEN ${membership}.supplied_${column} ELSE u.${column} END`;
  const placeholder_email = `CASE WHEN ${membership}.accepted_at IS NULL
      THEN ${membership}.frozen_at IS NOT NULL AND ${membership}.supplied_email IS NULL ELSE u.placeholder_email END`;
  const [first_name, last_name] = [of('first_name'), of('last_name')];
  return {
    first_name,
    last_name,
    full_name: `${first_name} || ' ' || ${last_name}`,
    email: `CASE WHEN ${membership}.accepted_at IS NULL THEN ${membership}.supplied_email
      WHEN NOT u.placeholder_email THEN u.email END`,
    phone: of('phone'),
    placeholder_email,
  };
}

/** The whole name of {@link visiblePerson}. */
export const shownName = (membership: string): Sql => raw(visiblePerson(membership).full_name);

/** These columns of {@link visiblePerson}, each under its name, for a SELECT. */
export function visibleColumns(membership: string, columns: (VisibleColumn | 'placeholder_email')[]): Sql {
  const person = visiblePerson(membership);
  return join(columns.map((column) => raw(`${person[column]} AS ${column}`)));
}

/**
 * SQL for whether each word of a search is in what an organization is shown of a person, by one folding of both. A search without words finds
 * nobody. It reads the login itself, as lists find their ids without joins.
 */
export function foundPerson(membership: string, search: string, columns: VisibleColumn[]): Sql {
  const person = visiblePerson(membership);
  const texts = columns.map((column) => raw(column === 'phone' ? digitsOf(person.phone) : person[column]));
  return sql`(SELECT coalesce(bool_and(strpos(shown.text, w.word) > 0), false)
    FROM (SELECT folded(concat_ws(' ', ${join(texts)})) AS text
      FROM (VALUES (true)) one LEFT JOIN users u ON u.id = ${raw(membership)}.user_id) shown,
      unnest(string_to_array(folded(${search}), ' ')) AS w (word) WHERE w.word <> '')`;
}
