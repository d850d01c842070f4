import sql, { join, raw, type Sql } from 'sql-template-tag';
import { digitsOf, type VisibleColumn, visiblePerson } from '@app/database';

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
      unnest(string_to_array((SELECT folded(${search})), ' ')) AS w (word) WHERE w.word <> '')`;
}
