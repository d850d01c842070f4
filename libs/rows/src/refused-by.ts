import { driverErrorOf, SQLSTATE, sqlStateOf, wordsOfCheck } from '@app/database';
import { Refused } from '@app/rules';
import type { RowTable } from './row-table.js';

/** What a rule says, for who sent the field. */
export const sentenceOf = ({ words }: { words: string }): string => `${words[0]!.toUpperCase()}${words.slice(1)}.`;

/** What the database has against a row, for its writer; null for any other failure. */
export function refusedBy(error: unknown, { table, unique }: RowTable): Refused | null {
  const { constraint = '', table: at } = driverErrorOf(error) as { constraint?: string; table?: string };
  switch (sqlStateOf(error)) {
    case SQLSTATE.uniqueViolation: {
      const like = unique?.[constraint];
      return like ? Refused.invalidAt([like]) : null;
    }
    case SQLSTATE.checkViolation: {
      const rule = wordsOfCheck(constraint);
      return rule ? Refused.invalid(sentenceOf(rule), rule.column) : null;
    }
    case SQLSTATE.foreignKeyViolation:
      // Its own table is to blame if what it names has just gone.
      if (at === table) return Refused.notFound();
      return Refused.conflict('still_referenced', `Other records name this one (${at?.replaceAll('_', ' ')}).`, {
        referenced_by: at,
      });
    default:
      return null;
  }
}
